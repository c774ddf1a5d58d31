"""To import this module declares all ops and gives tensors their operators, unless that has happened.

Packages that make tensors, or look ops up by name, begin with it: a script may import them first.
"""

from refgrad.op import LOAD

LOAD[0]()

"""Campaigns: very many generated programs, in processes that may die, into one record.

Words:

campaign   the programs of one seed on some engines; program number n is the same whatever the number of jobs
batch      a run of consecutive programs, done as one job and written to the record as one line of counts
host       a process that has imported the engines and never runs a program itself; one per job at a time
child      a fork of a host, in which programs run; when one crashes, hangs or eats memory, only it is lost
solo       one program on one engine in a child of its own, to learn which engine dies, and where
"""

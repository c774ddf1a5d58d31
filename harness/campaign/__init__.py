"""Campaigns: very many generated programs, in processes that may die, into one record.

Words:

campaign   the programs of one seed on some engines; program number n is the same whatever the number of jobs
batch      a run of consecutive programs, done as one job and written to the record as one line of counts
span       batches that follow one another as one, as the record of a campaign that ended keeps them
share      the programs of a campaign that one machine runs; the records of all shares merge into one
crew       all that do the jobs of a campaign: the hosts of this machine, or the workers of a cluster
host       a process that has imported the engines and never runs a program itself; one per job at a time
child      a fork of a host, in which programs run; when one crashes, hangs or eats memory, only it is lost
solo       one program on one engine in a child of its own, to learn which engine dies, and where
"""

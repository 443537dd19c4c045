# A few cycles of the crash torture test; "make torture" runs many.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;    # has something to do before the main program begins

$ENV{CYCLES} ||= 4;
$ENV{TORTURE_SECONDS} ||= 1;
require './test/torture/torture.pl';

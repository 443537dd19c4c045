#!/usr/bin/perl
# run.pl: do the tests see faults?  Plants one fault at a time in a copy of the sources, runs test suites on it, and says which
# of them fails.  Exit status 1 if a fault goes unseen, or no longer fits the sources.
#
#   run.pl [--all] [--schedules N] [name ...]     names of files in faults/, without .fault; default all
#
# Suites are tried in turn until one fails: the differential tester (N schedules, 2000), isolation, regress, the unit tests of the store, the test of pruning; with
# --all each of them runs.
#
# A fault is a file: what it is, the file it goes into, the text there (which must occur once), and what takes its place.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename;
use File::Temp 'tempdir';
use Getopt::Long;

my ($all, $schedules) = (0, 2000);
GetOptions('all' => \$all, 'schedules=i' => \$schedules) or die "see the head of $0\n";
my $here = dirname(abs_path($0));
my $root = abs_path("$here/../..");
my @names = @ARGV ? @ARGV : map { basename($_, '.fault') } sort glob "$here/faults/*.fault";

my @suites = (
	[ differential => "RUN_ONLY='build tap' RUN_TAP=test/t/012_differential.pl DIFF_SCHEDULES=$schedules DIFF_STOP=1" ],
	[ isolation => "RUN_ONLY='build isolation'" ],
	[ regress => "RUN_ONLY='build regress'" ],
	[ unit => "RUN_ONLY='build unit'" ],
	[ pruning => "RUN_ONLY='build tap' RUN_TAP=test/t/024_prune.pl" ]);

sub slurp { my ($file) = @_; open my $in, '<', $file or die "$file: $!\n"; local $/; return <$in> }

# Plant a fault in a copy; the description of it.
sub plant
{
	my ($copy, $name) = @_;
	my ($what, $file, $old, $new) = slurp("$here/faults/$name.fault") =~ /\Awhat: (.*)\nfile: (.*)\n<<<<\n(.*?)\n====\n(.*?)\n>>>>\n\z/s
	  or die "$name: not a fault\n";
	my $text = slurp("$copy/$file");
	my $found = () = $text =~ /\Q$old\E/g;

	die "$name: its text occurs $found times in $file\n" unless $found == 1;
	$text =~ s/\Q$old\E/$new/;
	open my $out, '>', "$copy/$file" or die "$file: $!\n";
	print $out $text;
	close $out or die "$file: $!\n";
	return $what;
}

$| = 1;
my @missed;
for my $name (@names)
{
	my $copy = tempdir(CLEANUP => 1);
	my @caught;

	chmod 0755, $copy;
	system("cd '$root' && tar cf - --exclude=.git --exclude='*.o' --exclude='*.so' --exclude='*.bc' --exclude='*.d' . | tar xf - -C '$copy'") == 0 or die "cannot copy $root\n";
	my $what = eval { plant($copy, $name) };
	unless (defined $what) { print "$name: DOES NOT FIT: $@"; push @missed, $name; next }
	for my $suite (@suites)
	{
		my $log = "$copy/$suite->[0].log";
		my $failed = system("cd '$copy' && $suite->[1] ./run test >'$log' 2>&1") != 0;

		if ($failed && slurp($log) =~ /the build failed/) { print "$name: DOES NOT BUILD\n", slurp($log); last }
		push @caught, $suite->[0] if $failed;
		last if $failed && !$all;
	}
	printf "%-24s %-22s %s\n", $name, @caught ? "seen by @caught" : 'NOT SEEN', $what;
	push @missed, $name unless @caught;
}
printf "%d faults, %d not seen%s\n", scalar @names, scalar @missed, @missed ? ": @missed" : '';
exit(@missed ? 1 : 0);

# Shrink.pm: the smallest schedule that still differs, by leaving out more and more.
package Shrink;

use strict;
use warnings;

# compare: a Compare.  Returns the schedule and its difference.
sub shrink
{
	my ($compare, $schedule, $difference, $limit) = @_;
	my $tries = 0;
	$limit ||= 600;
	$schedule = { %$schedule, shape => 0 };

	for my $part ('steps', 'setup', 'steps')
	{
		my $size = int(@{ $schedule->{$part} } / 2) || 1;

		while (1)
		{
			my $changed = 0;
			my $at = 0;

			while ($at < @{ $schedule->{$part} } && $tries < $limit)
			{
				my @list = @{ $schedule->{$part} };
				my @gone = splice @list, $at, $size;

				# the table itself stays, and what makes plans the same
				if (grep { /TABLE links \(|^DROP TABLE|^SET \w+ = / } map { ref $_ ? $_->[1] : $_ } @gone)
				{
					if ($size > 1)
					{
						splice @list, $at, 0, grep { /TABLE links \(|^DROP TABLE|^SET \w+ = / } map { ref $_ ? $_->[1] : $_ } @gone if $part eq 'setup';
						splice @list, $at, 0, grep { $_->[1] =~ /^SET \w+ = / } @gone if $part eq 'steps';
					}
					if (@list == @{ $schedule->{$part} } || $size == 1) { $at += $size; next }
				}
				my $try = { %$schedule, $part => \@list };
				my $d = $compare->schedule($try);
				$tries++;
				if ($d) { ($schedule, $difference, $changed) = ($try, $d, 1) }
				else { $at += $size }
			}
			last if $tries >= $limit;
			if ($size > 1) { $size = int($size / 2) }
			elsif (!$changed) { last }
		}
	}
	return ($schedule, $difference);
}

# A schedule as text that can be read and run again (run.pl --file).
sub text
{
	my ($schedule) = @_;
	my @lines = ("mode: $schedule->{mode} $schedule->{levels}");

	push @lines, map { "setup: $_" } @{ $schedule->{setup} };
	push @lines, map { "s$_->[0]: $_->[1]" } @{ $schedule->{steps} };
	s/\n/\\n/g for @lines;
	return join "\n", @lines, '';
}

sub parse
{
	my ($text) = @_;
	my $schedule = { setup => [], steps => [], sessions => 1, mode => 'physical', levels => 'rc' };

	for my $line (split /\n/, $text)
	{
		next if $line =~ /^\s*(?:#|$)/;
		$line =~ s/\\n/\n/g;
		if ($line =~ /^mode: (\w+) (\w+)/) { @$schedule{qw(mode levels)} = ($1, $2) }
		elsif ($line =~ /^setup: (.*)/s) { push @{ $schedule->{setup} }, $1 }
		elsif ($line =~ /^s(\d+): (.*)/s)
		{
			push @{ $schedule->{steps} }, [ $1, $2 ];
			$schedule->{sessions} = $1 if $1 > $schedule->{sessions};
		}
		else { die "what is this: $line\n" }
	}
	return $schedule;
}

1;

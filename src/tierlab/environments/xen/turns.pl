# Runs in domain 0: has a neighbour compute in turns, by its console, and writes down when it did.
# Arguments: the domain, how many of its virtual CPUs compute, a file that will be there with a line
# for each turn (start and end in seconds since the epoch, weight), and the log, which is there once
# the domain rests, and has a line for each turn that is over.
use strict;
use warnings;
use IO::Handle;
use Time::HiRes qw(alarm sleep time);

my $ANSWER_SECONDS = 60;

my ($domain, $vcpus, $turns, $log) = @ARGV;
my $number = `xl domid $domain`;
chomp $number;
my $console = `xenstore-read /local/domain/$number/console/tty`;
chomp $console;
open(my $from, '<', $console) or die "$console: $!\n";
open(my $to, '>', $console) or die "$console: $!\n";
$to->autoflush(1);

# Both in one: it has heeded once it says so.
sub occupy {
    my ($wanted) = @_;
    alarm($ANSWER_SECONDS);
    print $to "$wanted\n";
    while (my $line = <$from>) {
        next if $line !~ /^busy: $wanted\b/;
        alarm(0);
        return;
    }
    die "$domain has no console any more\n";
}

sub wait_until {
    my ($moment) = @_;
    my $left = $moment - time;
    sleep($left) if $left > 0;
}

$SIG{ALRM} = sub { die "$domain does not answer on its console\n" };
occupy(0);
open(my $done, '>', $log) or die "$log: $!\n";
$done->autoflush(1);
sleep(0.2) until -e $turns;
open(my $asked, '<', $turns) or die "$turns: $!\n";
my $weighs = 0;
while (my $turn = <$asked>) {
    my ($start, $end, $weight) = split ' ', $turn;
    # While it rests, so that nobody is the worse for how long that takes.
    if ($weight != $weighs) {
        system('xl', 'sched-credit2', '-d', $domain, '-w', $weight) == 0
            or die "$domain: its weight cannot be set\n";
        $weighs = $weight;
    }
    wait_until($start);
    my $began = time;
    occupy($vcpus);
    wait_until($end);
    occupy(0);
    printf $done "%.6f %.6f\n", $began, time;
}

# Eighty tickets in the queue General.
use strict;
use warnings;
use RT -init;

for my $number (1 .. 80) {
    my $ticket = RT::Ticket->new(RT->SystemUser);
    my ($id, undef, $said) = $ticket->Create(
        Queue => 'General', Subject => "Lamp $number is dark", Requestor => "user$number\@shop.example",
        MIMEObj => MIME::Entity->build(Type => 'text/plain', Data => ["The lamp of number $number does not go on.\n"]),
    );
    die $said unless $id;
    $ticket->SetStatus('open') if $number % 2;
}

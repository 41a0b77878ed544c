<?php

declare(strict_types=1);

namespace Tierlab\Olio;

use RuntimeException;

/** The server that knows where addresses are, asked by HTTP. */
final readonly class Geocoder
{
    private const PATH = '/geocoder/php/geocode.php';
    private const PATIENCE_SECONDS = 30;
    private const NUMBER = '(-?\d{1,3}(?:\.\d+)?)';

    public function __construct(private string $server, private string $requestId)
    {
    }

    public function locate(Address $address): Coordinates
    {
        $query = http_build_query([
            'street' => $address->street1,
            'city' => $address->city,
            'state' => $address->state,
            'zip' => $address->zip,
        ]);
        $headers = ['Connection: close', ...($this->requestId === '' ? [] : ["X-Request-Id: $this->requestId"])];
        $context = stream_context_create(['http' => [
            'header' => $headers,
            'protocol_version' => 1.1,
            'timeout' => self::PATIENCE_SECONDS,
        ]]);
        $answer = @file_get_contents("http://$this->server" . self::PATH . "?$query", false, $context);
        $number = self::NUMBER;
        $form = "#<Latitude>$number</Latitude>\\s*<Longitude>$number</Longitude>#";
        if ($answer === false || preg_match($form, $answer, $found) !== 1) {
            throw new RuntimeException("the geocoder at $this->server does not answer as it should");
        }
        return new Coordinates($found[1], $found[2]);
    }
}

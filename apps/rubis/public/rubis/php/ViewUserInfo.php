<?php

declare(strict_types=1);

use Tierlab\Rubis\CommentList;
use Tierlab\Rubis\Data\Comments;
use Tierlab\Rubis\Data\Users;
use Tierlab\Rubis\Exchange;
use Tierlab\Rubis\Page;
use Tierlab\Rubis\Sorry;
use Tierlab\Rubis\UserDetails;

require __DIR__ . '/../../../library/application.php';

Page::answer('User', static function (Exchange $exchange): string {
    $id = $exchange->parameters->id('userId');
    $sql = $exchange->sql();
    $user = Users::byId($sql, $id) ?? throw new Sorry('that user does not exist.');
    return UserDetails::show($user) . "<h2>Comments</h2>\n"
        . CommentList::show(Comments::about($sql, $exchange->settings, $id));
});

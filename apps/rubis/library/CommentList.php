<?php

declare(strict_types=1);

namespace Tierlab\Rubis;

/** What was said of a user. */
final class CommentList
{
    /** @param list<array<string, mixed>> $comments */
    public static function show(array $comments): string
    {
        if ($comments === []) {
            return "<p>Nobody has commented on this user yet.</p>\n";
        }
        $list = "<dl>\n";
        foreach ($comments as $comment) {
            $author = Html::link(
                'ViewUserInfo',
                ['userId' => (int) $comment['from_user_id']],
                Html::escape($comment['nickname']),
            );
            $list .= "<dt>$author" . Html::markup(
                " on %s, rating %s</dt>\n<dd>%s</dd>\n",
                $comment['date'],
                $comment['rating'],
                $comment['comment'],
            );
        }
        return "$list</dl>\n";
    }
}

<?php

declare(strict_types=1);

namespace Tierlab\Olio;

/** What was said of an event. */
final class CommentList
{
    /** @param list<array<string, mixed>> $comments */
    public static function show(array $comments): string
    {
        if ($comments === []) {
            return "<p>Nobody has commented on this event yet.</p>\n";
        }
        $list = '';
        foreach ($comments as $comment) {
            $list .= '<dt>' . Html::person($comment['username'])
                . Html::markup(
                    " on %s, rating %s</dt>\n<dd>%s</dd>\n",
                    $comment['created_at'],
                    $comment['ratings'],
                    $comment['comments'],
                );
        }
        return "<dl>\n$list</dl>\n";
    }

    /** The form for a comment. */
    public static function form(int $event): string
    {
        $fields = Html::markup("<input type=\"hidden\" name=\"socialEventID\" value=\"%s\">\n", $event)
            . Html::area('Comment', 'comments') . Html::select('Rating', 'rating', [1, 2, 3, 4, 5]);
        return Html::form('events', $fields, 'commentsratingsubmit', 'Comment');
    }
}

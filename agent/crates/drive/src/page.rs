//! What a user sees on a page: its links, form fields, options and images. A lenient scan of tags,
//! as browsers are lenient; nothing is allocated but the answers.

use memchr::{memchr, memmem};

/// Elements in which nothing is a tag but their own end (HTML standard, section 13.1.2).
const TEXTS: [&str; 3] = ["script", "style", "textarea"];

/// What came as a page, decoded from the wire.
#[derive(Clone, Copy)]
pub struct Page<'a> {
    /// Its bytes.
    pub body: &'a [u8],
    /// Whether it has links and images: data and programs may have what looks alike.
    pub is_html: bool,
}

/// A link with a query: `path?query`.
#[derive(Clone, Copy)]
pub struct Link<'a> {
    path: &'a [u8],
    /// What follows the question mark, as it stands in the page.
    pub query: &'a [u8],
}

impl<'a> Page<'a> {
    /// One of HTML.
    pub const fn html(body: &'a [u8]) -> Self {
        Self { body, is_html: true }
    }

    /// Whether the page contains `text`.
    pub fn says(self, text: &str) -> bool {
        memmem::find(self.body, text.as_bytes()).is_some()
    }

    /// The links that have a query, in the page's order.
    pub fn links(self) -> impl Iterator<Item = Link<'a>> {
        self.hrefs().filter_map(|href| {
            let at = memchr(b'?', href)?;
            Some(Link { path: &href[..at], query: &href[at + 1..] })
        })
    }

    /// Where its links lead, as they stand in the page.
    pub fn hrefs(self) -> impl Iterator<Item = &'a [u8]> {
        self.values("a", "href")
    }

    /// The value of the first form field called `name`.
    pub fn field(self, name: &str) -> Option<&'a [u8]> {
        tags(self.body)
            .filter(|tag| tag.is("input"))
            .find(|tag| tag.attribute("name") == Some(name.as_bytes()))
            .and_then(|tag| tag.attribute("value"))
    }

    /// The values that select elements offer.
    pub fn options(self) -> impl Iterator<Item = &'a [u8]> {
        self.values("option", "value")
    }

    /// What its links and images are relative to, where it says so.
    pub fn base(self) -> Option<&'a [u8]> {
        tags(self.markup())
            .take_while(|tag| !tag.is("body"))
            .filter(|tag| tag.is("base"))
            .find_map(|tag| tag.attribute("href"))
    }

    /// The values of an attribute of all elements of a name, where it is HTML.
    pub fn values<'b>(
        self,
        element: &'b str,
        attribute: &'b str,
    ) -> impl Iterator<Item = &'a [u8]> + use<'a, 'b> {
        tags(self.markup())
            .filter(move |tag| tag.is(element))
            .filter_map(move |tag| tag.attribute(attribute))
    }

    fn markup(self) -> &'a [u8] {
        if self.is_html { self.body } else { &[] }
    }
}

impl<'a> Link<'a> {
    /// Whether the path's last segment is `page`.
    pub fn leads_to(self, page: &str) -> bool {
        self.path
            .strip_suffix(page.as_bytes())
            .is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
    }

    /// The value of a parameter, still percent-encoded.
    pub fn parameter(self, name: &str) -> Option<&'a [u8]> {
        parameter(self.query, name)
    }
}

/// The value of `name` in a query, still percent-encoded. Queries in pages separate parameters by
/// `&` or, properly escaped, by `&amp;`.
pub fn parameter<'a>(query: &'a [u8], name: &str) -> Option<&'a [u8]> {
    query
        .split(|byte| *byte == b'&')
        .map(|part| part.strip_prefix(b"amp;").unwrap_or(part))
        .find_map(|part| part.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

struct Tag<'a>(&'a [u8]);

/// What stands between `<` and `>`, but for comments and texts.
fn tags(body: &[u8]) -> impl Iterator<Item = Tag<'_>> {
    let mut rest = body;
    std::iter::from_fn(move || {
        loop {
            rest = &rest[memchr(b'<', rest)? + 1..];
            if rest.starts_with(b"!--") {
                // From its own dashes on: `<!-->` is whole.
                rest = &rest[memmem::find(rest, b"-->")? + 3..];
                continue;
            }
            let (tag, after) = rest.split_at(memchr(b'>', rest)?);
            rest = Tag(tag).passed(after);
            return Some(Tag(tag));
        }
    })
}

/// Whether a tag, from its name on, is of this element.
fn is_of(tag: &[u8], element: &str) -> bool {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/>".contains(byte);
    tag.get(..element.len()).is_some_and(|name| name.eq_ignore_ascii_case(element.as_bytes()))
        && tag.get(element.len()).is_none_or(ends)
}

impl<'a> Tag<'a> {
    /// What is left of what follows it, when the text of its element is passed.
    fn passed<'b>(&self, after: &'b [u8]) -> &'b [u8] {
        // What ends itself, as in XHTML, has no text.
        let has_text = |element: &&&str| self.is(element) && !self.0.ends_with(b"/");
        let Some(element) = TEXTS.iter().find(has_text) else { return after };
        memmem::find_iter(after, b"</")
            .map(|at| &after[at..])
            .find(|end| is_of(&end[2..], element))
            .unwrap_or_default()
    }

    fn is(&self, element: &str) -> bool {
        is_of(self.0, element)
    }

    /// The value of an attribute, without its quotes.
    fn attribute(&self, name: &str) -> Option<&'a [u8]> {
        let mut rest = self.0;
        while let Some(at) = memchr(b'=', rest) {
            let before = rest[..at].trim_ascii_end();
            let named = before.len() > name.len() && {
                let (ahead, last) = before.split_at(before.len() - name.len());
                last.eq_ignore_ascii_case(name.as_bytes())
                    && ahead.last().is_some_and(u8::is_ascii_whitespace)
            };
            let (value, after) = value(rest[at + 1..].trim_ascii_start());
            if named {
                return Some(value);
            }
            rest = after;
        }
        None
    }
}

/// Splits an attribute's value, quoted or not, from what follows it.
fn value(text: &[u8]) -> (&[u8], &[u8]) {
    match text.first() {
        Some(quote @ (b'"' | b'\'')) => {
            let end = memchr(*quote, &text[1..]).unwrap_or(text.len() - 1);
            (&text[1..=end], text.get(end + 2..).unwrap_or_default())
        }
        _ => {
            let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
            text.split_at(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Page<'_> = Page::html(
        br#"<HTML><IMG SRC="/rubbos/images/logo.jpg" alt=logo><a href=/rubbos/servlet/ViewStory?storyId=7>x</a>
        <A class='b' HREF = "/rubbos/servlet/ViewComment?comment_table=comments&amp;storyId=7&amp;commentId=12">y</A>
        <a href="/rubbos/servlet/Search">z</a> 1 < 2 <form action="/rubbos/servlet/PostComment?no=1">
        <input type=hidden name=parent value=0><input type="hidden" value="old_comments" name="comment_table"/>
        <select name=category><OPTION value="3">a<option selected value='4'>b</select><img data-src="no">"#,
    );

    fn text(bytes: &[u8]) -> &str {
        std::str::from_utf8(bytes).expect("the page is ASCII")
    }

    #[test]
    fn links_carry_their_parameters_escaped_or_not() {
        let links: Vec<_> = PAGE.links().collect();
        assert_eq!(links.len(), 2);
        assert!(links[0].leads_to("ViewStory") && !links[0].leads_to("Story"));
        assert_eq!(links[1].parameter("commentId").map(text), Some("12"));
        assert_eq!(links[1].parameter("storyId").map(text), Some("7"));
        assert_eq!(links[1].parameter("Id"), None);
    }

    #[test]
    fn fields_options_and_images_are_found() {
        assert_eq!(PAGE.field("comment_table").map(text), Some("old_comments"));
        assert_eq!(PAGE.field("parent").map(text), Some("0"));
        assert_eq!(PAGE.field("subject"), None);
        assert_eq!(PAGE.options().map(text).collect::<Vec<_>>(), ["3", "4"]);
        assert_eq!(
            PAGE.values("img", "src").map(text).collect::<Vec<_>>(),
            ["/rubbos/images/logo.jpg"]
        );
    }

    #[test]
    fn comments_and_texts_have_no_tags() {
        for text in [
            "<!-- <img src=b> -->",
            "<!--><img src=c><!-- > --><!-- <a> -- > <img src=b> --->",
            "<script>x = '<img src=b>' + \"</\" + '<img src=b></scripts>'</script>",
            "<SCRIPT src='x.js'><img src=b></Script >",
            "<style\n>a:after { content: '<img src=b>' }</style>",
            "<textarea name=t><img src=b></textarea>",
            "<script/>",
            "<scripted>",
        ] {
            let whole = format!("<img src=a>{text}<img src=z>");
            let page = Page::html(whole.as_bytes());
            let found: Vec<_> = page.values("img", "src").map(self::text).collect();
            let more: &[&str] = if text.contains("src=c") { &["c"] } else { &[] };
            assert_eq!(found, [&["a"][..], more, &["z"]].concat(), "{text}");
        }
        for text in ["<!-- <img src=b>", "<script><img src=b>"] {
            assert_eq!(Page::html(text.as_bytes()).values("img", "src").count(), 0, "no end");
        }
        let page = Page::html(b"<!--<input name=t value=old>--><input name=t value=new>");
        assert_eq!(page.field("t").map(text), Some("new"));
    }

    #[test]
    fn what_is_no_html_has_fields_at_most() {
        let page = Page { is_html: false, ..PAGE };
        assert_eq!((page.links().count(), page.values("img", "src").count()), (0, 0));
        assert_eq!(page.field("parent").map(text), Some("0"));
    }

    #[test]
    fn broken_markup_is_read_as_far_as_it_goes() {
        for page in ["<", "<a", "<a href", "<a href=", "<a href=\">", "<img src='>", "a=<b =>"] {
            let page = Page::html(page.as_bytes());
            assert_eq!(page.links().count(), 0);
            let _ = page.values("img", "src").count();
        }
    }

    #[test]
    fn whatever_is_on_a_page_is_read_without_a_fault() {
        const PIECES: [&str; 20] = [
            "<a",
            " href",
            "=",
            "\"",
            "'",
            ">",
            "<",
            "?x=1",
            "&amp;",
            "&",
            "<img src=",
            " ",
            "<input name=",
            " value=",
            "<option",
            "\u{fc}",
            "<!--",
            "-->",
            "<script",
            "</script",
        ];
        let mut random = crate::random::Stream::new(1, 0);
        for _ in 0..20_000 {
            let text: String =
                (0..random.below(24)).map(|_| PIECES[random.below(20) as usize]).collect();
            let page = Page::html(text.as_bytes());
            for link in page.links() {
                assert!(link.query.len() < text.len());
                let _ = (link.parameter("x"), link.leads_to(""));
            }
            let _ = (page.values("img", "src").count(), page.options().count(), page.field("x"));
        }
    }
}

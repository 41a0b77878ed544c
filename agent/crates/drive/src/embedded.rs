//! What a page makes a browser fetch: what the workload says belongs to it, and its images.

use crate::browser::name_of;
use crate::extract::unescape;
use crate::flight::Resource;
use crate::links::Site;
use crate::page::Page;
use crate::script::Script;
use crate::session::User;

/// Images fetched for one page at most.
const MOST_IMAGES: usize = 256;

/// What a page that came makes its user's browser fetch, the last first; and how many images the page
/// refers to. A browser counts an image once a page, and with a cache fetches it once a session; one
/// that the workload has among what belongs to the page is counted, and fetched as such.
pub fn of_page(script: &Script, user: &mut User, page: Page<'_>) -> (i32, Vec<Resource>) {
    let number = user.request().state;
    let state = &script.workload.states[usize::from(number)];
    let hosts = script.hosts_of(user.request().server);
    let site = Site::of(page, user.request().target(), hosts);
    let images = &state.images;
    let rules = &script.workload.rules;
    let cached = rules.cache.is_some();
    let once = rules.browser || cached;
    let mut seen = Vec::new();
    let mut paths: Vec<Box<[u8]>> = page
        .values(&images.element, &images.attribute)
        .filter(|address| {
            let text = images.contains.as_deref().unwrap_or("");
            memchr::memmem::find(address, text.as_bytes()).is_some()
        })
        .filter_map(|address| site.target(&unescape(address)))
        .filter(|path| !images.except.iter().any(|target| target.as_bytes() == &**path))
        .filter(|path| !once || is_new(path, &mut seen))
        .take(MOST_IMAGES)
        .collect();
    let named = paths.len() as i32;
    paths.retain(|path| !script.has_resource(number, path));
    let mut browser = user.browser().filter(|_| cached);
    let mut found = Vec::with_capacity(paths.len());
    for number in script.resources_of(number) {
        if browser.as_mut().is_none_or(|browser| browser.wants_resource(*number)) {
            found.push(Resource::Static(*number));
        }
    }
    for path in paths {
        if browser.as_mut().is_none_or(|browser| browser.wants_image(&path)) {
            found.push(Resource::Image(path));
        }
    }
    found.reverse();
    (named, found)
}

/// Whether an image is not among those seen before, to which it is added.
fn is_new(path: &[u8], seen: &mut Vec<u64>) -> bool {
    let name = name_of(path);
    let new = !seen.contains(&name);
    if new {
        seen.push(name);
    }
    new
}

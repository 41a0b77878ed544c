# Three projects with issues and a wiki, which anybody may read.
Setting.login_required = "0"
author = User.find_by(login: "admin")
tracker, status, priority = Tracker.first, IssueStatus.first, IssuePriority.first
%w[lamps chairs tables].each do |name|
  project = Project.create!(name: name.capitalize, identifier: name, is_public: true, trackers: Tracker.all.to_a)
  project.enabled_module_names = %w[issue_tracking wiki news]
  120.times do |n|
    Issue.create!(project: project, tracker: tracker, status: status, priority: priority, author: author,
                  subject: "#{name} #{n} are late", description: "The #{name} of order #{n} are late.")
  end
  news = News.create!(project: project, author: author, title: "#{name} are here", summary: "New", description: "New #{name}.")
  wiki = project.wiki || Wiki.create!(project: project, start_page: "Wiki")
  page = WikiPage.create!(wiki: wiki, title: "Wiki")
  WikiContent.create!(page: page, author: author, text: "h1. #{name}\n\n" + "Text of a page. " * 80)
end

import Foundation
import Hummingbird
import IssueServer

// issue-server issues.sqlite [feed]: port 8080; a feed is asked every minute.

let store = try IssueStore(at: CommandLine.arguments.dropFirst().first ?? "issues.sqlite")
if let feed = CommandLine.arguments.dropFirst(2).first.flatMap(URL.init(string:)) {
    Task {
        while true {
            do { print(try await store.poll(feed)) } catch { print("the feed: \(error.localizedDescription)") }
            try await Task.sleep(for: .seconds(60))
        }
    }
}
let app = Application(
    router: IssueServer.router(store), configuration: .init(address: .hostname("127.0.0.1", port: 8080)))
try await app.runService()

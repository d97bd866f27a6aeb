import Foundation
import Sync
import Testing

/// `credentials.command` of a configuration.
@Suite("A command for credentials, syncdb")
struct CredentialCommandTests {
    /// Prints another secret each time, and leaves a line in `runs`.
    private static let command = #"""
        , "credentials": {"command": ["sh", "-c", "echo run >> runs; echo \" Bearer hush-$(grep -c run runs) \""]}
        """#

    private func runs(_ setting: ServiceSetting) throws -> Int {
        guard try setting.sandbox.files.contains("runs") else { return 0 }
        let text = try String(contentsOf: setting.sandbox.folder.appendingPathComponent("runs"), encoding: .utf8)
        return text.split(separator: "\n").count
    }

    private static let task: JSONValue = [["id": 1, "title": "t"]]

    @Test("is run once for a run, and what it prints is the header Authorization of every request")
    func once() throws {
        let setting = try ServiceSetting([ServiceSetting.tasks(Self.task)], Self.command)
        let run = try setting.run("sync")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try setting.server.authorizations == ["Bearer hush-1", "Bearer hush-1"])
        #expect(try runs(setting) == 1)
        #expect(try setting.run("sync").status == 0)
        #expect(try setting.server.authorizations.last == "Bearer hush-2")
        #expect(try runs(setting) == 2)
    }

    @Test("is run once more where the service refuses what it printed, and the run goes on with that")
    func refused() throws {
        let answers: JSONValue = [["status": 401, "body": ["message": "expired"]], ["body": Self.task]]
        let setting = try ServiceSetting([.init("GET /tasks", answers)], Self.command)
        let run = try setting.run("sync")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "Task: pulled 1 new\n")
        #expect(try setting.server.log == ["GET /tasks", "GET /tasks", "GET /tags"])
        #expect(try setting.server.authorizations == ["Bearer hush-1", "Bearer hush-2", "Bearer hush-2"])
        #expect(try runs(setting) == 2)
    }

    @Test("is not run a third time for one request, and nothing is parked for what the service refuses then")
    func refusedAgain() throws {
        let setting = try ServiceSetting([ServiceSetting.tasks(Self.task)], Self.command)
        #expect(try setting.run("sync").status == 0)
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine'")
        try setting.say([
            ServiceSetting.tasks(Self.task), .init("PATCH /tasks/1", ["status": 401, "body": ["message": "expired"]]),
        ])
        let run = try setting.run("sync")
        #expect(run.status == 1)
        #expect(run.errors.contains("does not accept the credentials: expired"), "\(run.errors)")
        #expect(try runs(setting) == 3)
        #expect(try setting.server.log.filter { $0.hasPrefix("PATCH") }.count == 2)
        let status = try JSONValue(parsing: try setting.run("status", "--json").output)["entities"]?["Task"]
        #expect(status?["pending"] == 1 && status?["parked"] == 0)
        // What needs no request needs no credentials.
        #expect(try runs(setting) == 3)
        let json: JSONValue = ["id": 1, "title": "mine"]
        try setting.say([ServiceSetting.tasks(Self.task), .init("PATCH /tasks/1", ["body": json])])
        #expect(try setting.run("sync").status == 0)
        #expect(try setting.server.log.filter { $0.hasPrefix("PATCH") }.count == 3)
    }

    @Test("may leave a program behind that keeps its streams open: what it printed counts once it is over")
    func leftBehind() throws {
        let setting = try ServiceSetting(
            [ServiceSetting.tasks(Self.task)],
            #", "timeout": 5, "credentials": {"command": ["sh", "-c", "sleep 20 & echo Bearer hush-child"]}"#)
        let run = try setting.run("sync")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try setting.server.authorizations.first == "Bearer hush-child")
    }

    @Test("says on the error stream what it likes, and is ended when it takes longer than the time for an answer")
    func errors() throws {
        let setting = try ServiceSetting(
            [ServiceSetting.tasks(Self.task)],
            #", "timeout": 1, "credentials": {"command": ["sh", "-c", "echo which key? >&2; sleep 20 & wait"]}"#)
        let run = try setting.run("sync")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("which key?\n"), "\(run.errors)")
        #expect(run.errors.contains("took longer than 1 s and was ended"), "\(run.errors)")
    }

    @Test("and what it prints are in no file of the database, and nowhere in what is printed")
    func secret() throws {
        let setting = try ServiceSetting(
            [.init("GET /tasks", ["status": 401, "body": ["message": "who?"]])],
            Self.command + #", "headers": {"X-Key": "hush-key"}"#)
        var printed: [Program.Run] = []
        printed.append(try setting.run("sync"))
        try setting.say([ServiceSetting.tasks(Self.task)])
        printed.append(try setting.run("sync", "--json"))
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine'")
        try setting.say([
            ServiceSetting.tasks([["id": 1, "title": "theirs"]]),
            .init("PATCH /tasks/1", ["status": 422, "body": ["message": "no"]]),
        ])
        for words in [["sync"], ["status"], ["status", "--json"], ["conflicts", "--json"], ["reset", "relink"]] {
            printed.append(try setting.sandbox.run(try setting.arguments(words)))
        }
        try setting.configure(Self.command + #", "headers": {"X-Key": "hush-key"}"#, url: "http://127.0.0.1:9")
        printed.append(try setting.run("push"))
        #expect(Set(printed.map(\.status)) == [0, 1, 4])
        for run in printed {
            #expect(!run.output.contains("hush"), "\(run.output)")
            #expect(!run.errors.contains("hush"), "\(run.errors)")
        }
        #expect(try setting.server.authorizations.contains { $0.contains("hush") })
        let files = try setting.sandbox.databaseBytes()
        #expect(files["app.sqlite"] != nil)
        for (name, bytes) in files { #expect(bytes.range(of: Data("hush".utf8)) == nil, "\(name)") }
    }

    @Test(
        "that fails, prints nothing or is not there ends the run with a word about that and none of what it printed",
        arguments: [
            (#"["sh", "-c", "echo hush; exit 3"]"#, "ended with status 3"), (#"["true"]"#, "printed nothing"),
            (#"["no-such-command-anywhere"]"#, "ended with status 127"),
        ])
    func failing(_ command: String, _ reason: String) throws {
        let setting = try ServiceSetting(
            [ServiceSetting.tasks(Self.task)], #", "credentials": {"command": \#(command)}"#)
        let run = try setting.run("sync")
        #expect(run.status == 1)
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(!run.errors.contains("hush"), "\(run.errors)")
        #expect(try !setting.sandbox.files.contains("answers.json.log"))
    }
}

import Foundation
import Sync
import Testing

/// `credentials.command` of a configuration.
@Suite("The credentials command of a configuration")
struct CredentialCommandTests {
    /// Prints a new secret each time, and adds a line to `runs`.
    private static let command = #"""
        , "credentials": {"command": ["sh", "-c", "echo run >> runs; echo \" Bearer hush-$(grep -c run runs) \""]}
        """#

    private func runs(_ setting: ServiceSetting) throws -> Int {
        guard try setting.sandbox.files.contains("runs") else { return 0 }
        let text = try String(contentsOf: setting.sandbox.folder.appendingPathComponent("runs"), encoding: .utf8)
        return text.split(separator: "\n").count
    }

    private static let task: JSONValue = [["id": 1, "title": "t"]]

    @Test("The credentials command runs once per sync, and its output is the Authorization header of all requests")
    func commandRunsOncePerSync() throws {
        let setting = try ServiceSetting([ServiceSetting.tasks(Self.task)], Self.command)
        let run = try setting.run("sync")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try setting.server.authorizations == ["Bearer hush-1", "Bearer hush-1"])
        #expect(try runs(setting) == 1)
        #expect(try setting.run("sync").status == 0)
        #expect(try setting.server.authorizations.last == "Bearer hush-2")
        #expect(try runs(setting) == 2)
    }

    @Test("The credentials command runs again if the service rejects its output, and the sync continues")
    func commandRunsAgainAfterRejection() throws {
        let answers: JSONValue = [["status": 401, "body": ["message": "expired"]], ["body": Self.task]]
        let setting = try ServiceSetting([.init("GET /tasks", answers)], Self.command)
        let run = try setting.run("sync")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "Task: pulled: 1 inserted\n")
        #expect(try setting.server.log == ["GET /tasks", "GET /tasks", "GET /tags"])
        #expect(try setting.server.authorizations == ["Bearer hush-1", "Bearer hush-2", "Bearer hush-2"])
        #expect(try runs(setting) == 2)
    }

    @Test("A second rejection of one request ends the sync, and no change is blocked")
    func secondRejectionEndsTheSync() throws {
        let setting = try ServiceSetting([ServiceSetting.tasks(Self.task)], Self.command)
        #expect(try setting.run("sync").status == 0)
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine'")
        try setting.say([
            ServiceSetting.tasks(Self.task), .init("PATCH /tasks/1", ["status": 401, "body": ["message": "expired"]]),
        ])
        let run = try setting.run("sync")
        #expect(run.status == 1)
        #expect(run.errors.contains("rejected the credentials: expired"), "\(run.errors)")
        #expect(try runs(setting) == 3)
        #expect(try setting.server.log.filter { $0.hasPrefix("PATCH") }.count == 2)
        let status = try JSONValue(parsing: try setting.run("status", "--json").output)["entities"]?["Task"]
        #expect(status?["pending"] == 1 && status?["blocked"] == 0)
        // `status` sends no request, so it does not run the command.
        #expect(try runs(setting) == 3)
        let json: JSONValue = ["id": 1, "title": "mine"]
        try setting.say([ServiceSetting.tasks(Self.task), .init("PATCH /tasks/1", ["body": json])])
        #expect(try setting.run("sync").status == 0)
        #expect(try setting.server.log.filter { $0.hasPrefix("PATCH") }.count == 3)
    }

    @Test("The credentials command may leave a process that keeps its streams open")
    func childProcessMayStay() throws {
        let setting = try ServiceSetting(
            [ServiceSetting.tasks(Self.task)],
            #", "timeout": 5, "credentials": {"command": ["sh", "-c", "sleep 20 & echo Bearer hush-child"]}"#)
        let run = try setting.run("sync")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try setting.server.authorizations.first == "Bearer hush-child")
    }

    @Test("The credentials command may write to standard error, and is ended after the timeout")
    func commandTimesOut() throws {
        let setting = try ServiceSetting(
            [ServiceSetting.tasks(Self.task)],
            #", "timeout": 1, "credentials": {"command": ["sh", "-c", "echo which key? >&2; sleep 20 & wait"]}"#)
        let run = try setting.run("sync")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("which key?\n"), "\(run.errors)")
        #expect(run.errors.contains("took longer than 1 s and was stopped"), "\(run.errors)")
    }

    @Test("The credentials command and its output are in no file of the database, and are never printed")
    func secretsStaySecret() throws {
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
        for words in [["sync"], ["status"], ["status", "--json"], ["conflicts", "--json"], ["reset", "cursors"]] {
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
        "A credentials command that fails, prints nothing or is missing is an error without its output",
        arguments: [
            (#"["sh", "-c", "echo hush; exit 3"]"#, "exited with status 3"), (#"["true"]"#, "printed nothing"),
            (#"["no-such-command-anywhere"]"#, "exited with status 127"),
        ])
    func failedCommandIsAnError(_ command: String, _ reason: String) throws {
        let setting = try ServiceSetting(
            [ServiceSetting.tasks(Self.task)], #", "credentials": {"command": \#(command)}"#)
        let run = try setting.run("sync")
        #expect(run.status == 1)
        #expect(run.errors.contains(reason), "\(run.errors)")
        #expect(!run.errors.contains("hush"), "\(run.errors)")
        #expect(try !setting.sandbox.files.contains("answers.json.log"))
    }
}

import Foundation
import Sync
import Testing

/// The messages of `syncdb` about a database and a service, with a stub of the service.
@Suite("Messages of service commands")
struct ServiceMessageTests {
    private static let model = """
        {"entities": {
          "Project": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project", "deleteRule": "deny"}}},
          "Task": {"attributes": {"id": "integer", "title": "string", "done": "boolean", "due": "date", "icon": "binary",
              "extra": "json", "points": "integer"},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"},
              "tags": {"entity": "Tag", "many": true, "inverse": "tasks"}}},
          "Tag": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags", "export": false}}}
        }}
        """
    private static let tags: JSONValue = ["body": [["id": 1, "name": "a"], ["id": 2, "name": "b"]]]

    /// A database that is synced with a stub.
    private final class Setting {
        let sandbox: Sandbox
        let server: AnswerServer

        init(_ tasks: JSONValue, projects: JSONValue = [], policy: String = "clientWins", _ more: String = "") throws {
            sandbox = try Sandbox()
            server = try AnswerServer(in: sandbox.folder, Self.answers(tasks, projects))
            _ = try sandbox.file("model.json", ServiceMessageTests.model)
            _ = try sandbox.file(
                "service.json",
                """
                {"service": "rest", "url": "\(server.url)/", "entities": {"Project": {}, "Task": {"path": "/tasks/"}, "Tag": {}},
                 "policy": "\(policy)", "sweep": 0\(more)}
                """)
        }

        static func answers(
            _ tasks: JSONValue, _ projects: JSONValue, _ more: [JSONValue.Member] = []
        ) -> JSONValue {
            .object(
                more + [
                    .init("GET /tasks", ["body": tasks]), .init("GET /tags", ServiceMessageTests.tags),
                    .init("GET /projects", ["body": projects]),
                ])
        }

        func say(_ tasks: JSONValue, projects: JSONValue = [], _ more: [JSONValue.Member] = []) throws {
            try server.say(Self.answers(tasks, projects, more))
        }

        func run(_ arguments: String...) throws -> Program.Run {
            try sandbox.run(
                [arguments[0], "-d", "app.sqlite", "-c", "service.json"] + arguments.dropFirst()
                    + (try sandbox.files.contains("app.sqlite") ? [] : ["--model", "model.json"]))
        }
    }

    private static func task(_ id: Int, _ members: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
        .object([.init("id", JSONValue(id)), .init("title", "t")] + members.map { .init($0.key, $0.value) })
    }

    // MARK: Messages

    @Test("'pull' prints changed links, and 'sync' without changes prints 'nothing new'")
    func linksAreCounted() throws {
        let setting = try Setting([Self.task(1, ["tag_ids": [1]])])
        #expect(try setting.run("sync").status == 0)
        #expect(try setting.run("sync").output == "nothing new\n")
        try setting.say([Self.task(1, ["tag_ids": [2]])])
        #expect(try setting.run("pull").output == "Task: links: 1 added, 1 removed\n")
        try setting.say([Self.task(1, ["tag_ids": [1, 2]])])
        let json = try JSONValue(parsing: try setting.run("pull", "--json").output)
        #expect(json["entities"]?["Task"]?["linksAdded"] == 1)
    }

    @Test("'import' into a synced database prints the number of changes that the next sync sends")
    func pendingImportIsReported() throws {
        let setting = try Setting([Self.task(1), Self.task(2)])
        _ = try setting.run("sync")
        let before = try setting.sandbox.run(
            ["import", "-", "--entity", "Task", "-d", "app.sqlite", "--delta"], input: #"[{"id": 1, "title": "t"}]"#)
        #expect(before.status == 0 && !before.errors.contains("synced with a service"), "\(before.errors)")
        let arguments = ["import", "-", "--entity", "Task", "-d", "app.sqlite"]
        let run = try setting.sandbox.run(arguments, input: #"[{"id": 1, "title": "mine"}]"#)
        #expect(run.status == 0)
        let note =
            "note: this database is synced with a service; the next sync sends 2 changes (1 deletion) of this import\n"
        #expect(run.errors.contains(note), "\(run.errors)")
        let again = try setting.sandbox.run(arguments, input: #"[{"id": 1, "title": "mine"}]"#)
        #expect(again.status == 0 && !again.errors.contains("synced with a service"), "\(again.errors)")
    }

    @Test("'push' prints blocked rows also without other changes, and 'status' prints the reason")
    func blockedRowsAreReported() throws {
        let setting = try Setting([Self.task(1)])
        _ = try setting.run("sync")
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine'")
        let refusal: JSONValue = ["status": 422, "body": ["message": "title is taken"]]
        try setting.say([Self.task(1)], [.init("PATCH /tasks/1", refusal)])
        let push = try setting.run("push")
        #expect(push.output == "nothing new\nTask: 1 blocked change; 'syncdb status' shows the reason\n")
        #expect(push.status == 4)
        let status = try setting.run("status", "--json").output
        let json = try JSONValue(parsing: status)
        #expect(
            json["blockedChanges"] == [["entity": "Task", "key": 1, "reason": "status 422: title is taken"]],
            "\(status)")
        let task = json["entities"]?["Task"]
        #expect(task?["blocked"] == 1 && task?["pending"] == 0 && task?["conflicts"] == 0)
        #expect(task?["initialSyncComplete"] == true)
    }

    @Test("'resolve --take remote' discards a blocked change, and no change that the next sync sends")
    func blockedChangeIsDiscarded() throws {
        let setting = try Setting([Self.task(1)])
        _ = try setting.run("sync")
        let before = try setting.sandbox.query("SELECT * FROM Task")
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine'")
        func resolve(_ side: String) throws -> Program.Run {
            try setting.sandbox.run(
                ["resolve", "-d", "app.sqlite", "-c", "service.json", "--entity", "Task", "--key", "1", "--take", side])
        }
        #expect(try resolve("remote").errors.contains("no conflict of Task 1"))
        try setting.say([Self.task(1)], [.init("PATCH /tasks/1", ["status": 422, "body": ["message": "no"]])])
        #expect(try setting.run("push").status == 4)
        #expect(try resolve("local").errors.contains("no conflict of Task 1"))
        let run = try resolve("remote")
        #expect(run.output == "Task 1: discarded the blocked change\n", "\(run.errors)")
        #expect(try setting.sandbox.query("SELECT * FROM Task") == before)
        #expect(try setting.run("status").status == 0)
        #expect(try setting.run("push").output == "nothing new\n")
    }

    @Test("'pull' and 'status' count rows in conflict, not their values")
    func rowsInConflictAreCounted() throws {
        let setting = try Setting([Self.task(1), Self.task(2)], policy: "manual")
        _ = try setting.run("sync")
        _ = try setting.sandbox.query("UPDATE Task SET title = 'mine', points = 1, done = 0")
        try setting.say(
            [
                Self.task(1, ["points": 2, "done": true, "due": "2026-11-24T12:00:00Z"]), Self.task(2, ["points": 2]),
            ].renamed("theirs"))
        let run = try setting.run("pull")
        #expect(
            run.output == """
                Task: pulled: 2 updated
                Task: 2 rows with open conflicts; 'syncdb conflicts' lists them; decide with 'syncdb resolve --entity Task --key … --take local|remote'

                """, "\(run.output)\(run.errors)")
        #expect(run.status == 4)
        let json = try JSONValue(parsing: try setting.run("status", "--json").output)["entities"]?["Task"]
        #expect(json?["conflicts"] == 2 && json?["conflictingValues"] == 5 && json?["pending"] == 2)
    }

    @Test("'conflicts' prints values as an export prints them")
    func valuesEqualTheExport() throws {
        let setting = try Setting([Self.task(1, ["due": "2026-11-23T12:00:00Z", "done": false, "icon": "AAE="])])
        _ = try setting.run("sync")
        _ = try setting.sandbox.query(
            "UPDATE Task SET due = '2026-11-25 08:00:00.000', done = 1, icon = x'0203', extra = '{\"a\":1}'")
        let there: JSONValue = Self.task(
            1, ["due": "2026-11-24T12:00:00Z", "done": .null, "icon": "BAU=", "extra": ["b": [2]]])
        try setting.say([there])
        #expect(try setting.run("pull").status == 0)
        guard case .array(let conflicts) = try JSONValue(parsing: try setting.run("conflicts", "--json").output) else {
            Issue.record("no list")
            return
        }
        func values(_ domain: String) -> [JSONValue?] {
            let conflict = conflicts.first { $0["field"] == .string(domain) }
            return [conflict?["base"], conflict?["local"], conflict?["remote"]]
        }
        #expect(values("due") == ["2026-11-23T12:00:00Z", "2026-11-25T08:00:00Z", "2026-11-24T12:00:00Z"])
        #expect(values("done") == [false, true, .null])
        #expect(values("icon") == ["AAE=", "AgM=", "BAU="])
        #expect(values("extra") == [.null, ["a": 1], ["b": [2]]])
    }

    @Test("'pull' prints the number of records without an ID, and the place of the first")
    func skippedRecordsAreCounted() throws {
        let setting = try Setting([Self.task(1), ["title": "x"], Self.task(2), ["title": "y", "id": .null]])
        let run = try setting.run("pull", "--only", "Task")
        #expect(
            run.output == """
                Task: pulled: 2 inserted
                Task: 2 records without a primary key skipped: the first is record 2 of the list

                """, "\(run.output)\(run.errors)")
        #expect(run.status == 0)
    }

    @Test("'pull' reports that no record has the configured version")
    func missingVersionsAreReported() throws {
        let setting = try Setting([Self.task(1), Self.task(2)], #", "rest": {"version": "rev"}"#)
        let note = "Task: 2 records without a version; check 'rest.version' in the configuration\n"
        let run = try setting.run("pull", "--only", "Task")
        #expect(run.output == "Task: pulled: 2 inserted\n" + note, "\(run.output)\(run.errors)")
        #expect(try setting.run("pull", "--only", "Task").output == note)
        try setting.say([Self.task(1), Self.task(2, ["rev": 5])])
        #expect(try setting.run("pull", "--only", "Task").output == "nothing new\n")
    }

    @Test("'pull' prints the reason and the length of a delay")
    func delaysAreReported() throws {
        let setting = try Setting([Self.task(1)])
        try setting.server.say(
            .object([
                .init("GET /tasks", [["status": 503, "headers": ["Retry-After": "1"]], ["body": []]])
            ]))
        let run = try setting.run("pull", "--only", "Task")
        #expect(run.errors == "waiting 1 s: the service asks to wait: status 503\n")
        #expect(run.output == "nothing new\n")
        let quiet = try setting.run("pull", "--only", "Tag", "--quiet", "--wait", "0")
        #expect(quiet.errors.contains("not found") || quiet.errors.contains("there is nothing"), "\(quiet.errors)")
    }

    @Test("'sync' reports a row that the service deleted and a delete rule keeps")
    func deniedDeletionIsReported() throws {
        let project: JSONValue = ["id": 1, "name": "p"]
        let setting = try Setting([Self.task(1, ["project_id": 1])], projects: [project])
        _ = try setting.run("sync")
        try setting.say([Self.task(1, ["project_id": 1])])
        for _ in 1...2 {
            let run = try setting.run("sync", "--max-delete", "100%")
            #expect(run.status == 4)
            #expect(
                run.output == "nothing new\nProject: 1 blocked change; 'syncdb status' shows the reason\n",
                "\(run.output)\(run.errors)")
        }
        let status = try setting.run("status").output
        #expect(
            status.contains("Project 1 is blocked: cannot delete Project 1: denied by Project.tasks"), "\(status)")
        #expect(
            status.hasSuffix("\nto send a blocked change again, fix the cause and change a value of the row\n"),
            "\(status)")
        try setting.say([Self.task(1, ["project_id": .null])])
        let run = try setting.run("sync")
        #expect(run.output.contains("Project: pulled: 1 deleted"), "\(run.output)\(run.errors)")
    }
}

extension [JSONValue] {
    /// Returns the tasks with another title.
    fileprivate func renamed(_ title: String) -> JSONValue {
        .array(
            map { task in
                guard case .object(let members) = task else { return task }
                return .object(members.filter { $0.key != "title" } + [.init("title", .string(title))])
            })
    }
}

import Foundation
import Sync
import Testing

/// The output and the errors of service commands.
@Suite("Results of service commands")
struct EngineResultTests {
    private static let model = #"{"entities": {"Task": {"attributes": {"id": "integer", "title": "string"}}}}"#
    private static let engine = ["-d", "app.sqlite", "-c", "service.json"]

    private let sandbox: Sandbox
    private let server: AnswerServer

    init() throws {
        sandbox = try Sandbox()
        server = try AnswerServer(in: sandbox.folder, Self.answers(["t", "t"]))
        _ = try sandbox.file("model.json", Self.model)
        try configure()
    }

    private func configure(_ more: String = "", url: String? = nil) throws {
        _ = try sandbox.file(
            "service.json",
            #"{"service": "rest", "url": "\#(url ?? server.url)", "entities": {"Task": {}}, "sweep": 0\#(more)}"#)
    }

    private static func answers(_ titles: [String]) -> JSONValue {
        let rows = titles.enumerated().map { row -> JSONValue in
            ["id": JSONValue(row.offset + 1), "title": .string(row.element)]
        }
        return ["GET /tasks": ["body": .array(rows)]]
    }

    private func run(_ arguments: String...) throws -> Program.Run {
        let model = try sandbox.files.contains("app.sqlite") ? [] : ["--model", "model.json"]
        return try sandbox.run([arguments[0]] + Self.engine + arguments.dropFirst() + model)
    }

    // MARK: reset

    @Test("'reset local' prints the number of deleted rows and of unsent edits", arguments: [false, true])
    func resetLocalCountsRows(_ isMoved: Bool) throws {
        #expect(try run("sync").status == 0)
        _ = try sandbox.query("INSERT INTO Task VALUES (-1, 'new'); UPDATE Task SET title = 'mine' WHERE id = 1")
        if isMoved { try configure(url: "http://127.0.0.1:9/v2") }
        let reset = try run("reset", "local")
        #expect(reset.output == "reset local: 3 rows deleted; pending changes of 2 rows deleted\n", "\(reset.errors)")
        let again = try run("reset", "local", "--json")
        #expect(again.output == #"{"reset": "local", "rows": 0, "unsent": 0}"# + "\n", "\(again.errors)")
    }

    @Test("'reset relink' and 'reset remote' print what follows")
    func resetsPrintWhatFollows() throws {
        #expect(try run("sync").status == 0)
        for kind in ["cursors", "relink"] {
            #expect(try run("reset", kind).output == "reset cursors: the next pull is complete\n")
            #expect(try run("reset", kind, "--json").output == #"{"reset": "cursors"}"# + "\n")
        }
        #expect(try run("reset", "remote").output == "reset remote: the next sync sends 2 rows as new\n")
        #expect(try run("reset", "remote", "--json").output == #"{"reset": "remote", "pending": 2}"# + "\n")
        #expect(try run("reset", "local", "--json", "--quiet").status == 2)
    }

    // MARK: resolve

    @Test("'resolve' tells rows without a conflict from resolved ones, and 'pull' counts open conflicts")
    func resolveNeedsAConflict() throws {
        try configure(#", "policy": "manual""#)
        #expect(try run("sync").status == 0)
        _ = try sandbox.query("UPDATE Task SET title = 'mine'")
        try server.say(Self.answers(["theirs", "t"]))
        let pull = try run("pull")
        #expect(
            pull.output == """
                Task: pulled: 1 updated
                Task: 1 pending change; 'syncdb push' sends it
                Task: 1 row with open conflicts; 'syncdb conflicts' lists them; decide with 'syncdb resolve --entity Task --key … --take local|remote'

                """, "\(pull.output)\(pull.errors)")
        let key = ["--entity", "Task", "--key", "1", "--take", "remote"]
        let wrong = try sandbox.run(["resolve"] + Self.engine + key + ["--field", "titel"])
        #expect(wrong.errors.contains("Task has no synced field 'titel'"), "\(wrong.errors)")
        let hint = "hint: the row has open conflicts of title; did you mean 'title'?\n"
        #expect(wrong.errors.contains(hint), "\(wrong.errors)")
        let resolved = try sandbox.run(["resolve"] + Self.engine + key + ["--json"])
        #expect(resolved.output == #"{"entity": "Task", "key": 1, "took": "remote", "restored": false}"# + "\n")
        let again = try sandbox.run(["resolve"] + Self.engine + key)
        #expect(
            again.errors.contains("the conflict of Task 1 is already resolved: the remote value is kept"),
            "\(again.errors)")
        let none = try sandbox.run(["resolve"] + Self.engine + ["--entity", "Task", "--key", "777", "--take", "local"])
        #expect(none.errors.contains("no conflict of Task 777"), "\(none.errors)")
    }

    // MARK: Address of the service

    @Test("Another address of the service is an error that names both, unless the identity is the old one")
    func changedAddressIsAnError() throws {
        #expect(try run("sync").status == 0)
        let address = server.url
        try configure(url: "\(address)/v2")
        try server.say(["GET /v2/tasks": ["body": [["id": 1, "title": "moved"], ["id": 2, "title": "t"]]]])
        let refused = try run("sync")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("belongs to \(address), not \(address)/v2"), "\(refused.errors)")
        try configure(#", "identity": "\#(address)""#, url: "\(address)/v2")
        #expect(try run("sync").output == "Task: pulled: 1 updated\n")
    }

    // MARK: Errors

    @Test("A service in backoff is an error that names --wait, which takes units")
    func backoffNamesWait() throws {
        try server.say(["GET /tasks": ["status": 503, "headers": ["Retry-After": "1000"]]])
        for wait in ["0", "100ms", "1.5s", "2m"] {
            let run = try run("sync", "--wait", wait)
            #expect(run.status == 1 && run.errors.contains("--wait of syncdb"), "\(run.errors)")
        }
        #expect(try run("sync", "--wait", "2x").status == 2)
        try server.say(Self.answers(["t"]))
        #expect(try run("reset", "cursors").status == 0)
        #expect(try run("sync", "--wait", "20").status == 0)
    }

    @Test("A missing configuration is an error with its reason, and a command of another level is suggested")
    func missingConfiguration() throws {
        let run = try sandbox.run(["sync", "-d", "app.sqlite", "-c", "nosuch.json", "--model", "model.json"])
        #expect(run.errors.contains("nosuch.json': No such file"), "\(run.errors)")
        let infer = try sandbox.run(["infer"])
        #expect(infer.status == 2)
        #expect(infer.errors.contains("did you mean 'schema infer'?"), "\(infer.errors)")
    }

    @Test("A response that is no JSON is an error that names the request")
    func responseWithoutJSON() throws {
        try server.say(["GET /tasks": ["status": 200]])
        let run = try run("sync")
        #expect(run.errors.contains("GET /tasks"), "\(run.errors)")
    }
}

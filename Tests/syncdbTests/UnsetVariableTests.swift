import Foundation
import Sync
import Testing

/// Service commands in an environment without the variables of the configuration.
@Suite("Commands without the variables of the configuration")
struct UnsetVariableTests {
    private static let set = "TOKEN=secret WHO=ann"
    private static let files = "-d app.sqlite -c service.json"

    /// Returns a folder with a database that has a row in conflict, and the stub of its service.
    private func sandbox() throws -> (Sandbox, AnswerServer) {
        let sandbox = try Sandbox()
        let server = try AnswerServer(in: sandbox.folder, Self.answers("t"))
        _ = try sandbox.file(
            "model.json", #"{"entities": {"Task": {"attributes": {"id": "integer", "title": "string"}}}}"#)
        _ = try sandbox.file(
            "service.json",
            """
            {"service": "rest", "url": "\(server.url)", "entities": {"Task": {}}, "policy": "manual", "user": "${WHO}",
             "headers": {"Authorization": "Bearer ${TOKEN}"}, "rest": {"version": "version"}}
            """)
        let first = try sandbox.shell("\(Self.set) $SYNCDB sync \(Self.files) --model model.json")
        try #require(first.status == 0, "\(first.errors)")
        _ = try sandbox.query("UPDATE Task SET title = 'mine'")
        try server.say(Self.answers("theirs"))
        _ = try sandbox.shell("\(Self.set) $SYNCDB pull \(Self.files)")
        return (sandbox, server)
    }

    private static func answers(_ title: String) -> JSONValue {
        .object([.init("GET /tasks", ["body": [["id": 1, "title": .string(title), "version": .string(title)]]])])
    }

    @Test("status, conflicts and resolve need no variables of the configuration")
    func commandsWithoutRequests() throws {
        let (sandbox, server) = try sandbox()
        defer { withExtendedLifetime(server) {} }
        let status = try sandbox.shell("$SYNCDB status \(Self.files) --json")
        #expect(status.errors.isEmpty && status.status == 0, "\(status.errors)")
        #expect(try JSONValue(parsing: status.output)["entities"]?["Task"]?["conflicts"] == 1)
        let conflicts = try sandbox.shell("$SYNCDB conflicts \(Self.files) --json")
        #expect(conflicts.output.contains("\"theirs\""), "\(conflicts.errors)")
        let resolve = try sandbox.shell("$SYNCDB resolve \(Self.files) --entity Task --key 1 --take remote")
        #expect(resolve.status == 0, "\(resolve.errors)")
        #expect(try sandbox.query("SELECT title FROM Task") == "theirs\n")
        // The user of the database is unchanged.
        #expect(try sandbox.query("SELECT user FROM sync_engine") == "ann\n")
    }

    @Test("Commands with requests name the missing variable, and a malformed configuration is always an error")
    func commandsWithRequests() throws {
        let (sandbox, server) = try sandbox()
        defer { withExtendedLifetime(server) {} }
        for command in ["sync", "pull", "push", "reset cursors"] {
            let run = try sandbox.shell("TOKEN=secret $SYNCDB \(command) \(Self.files)")
            #expect(run.errors.contains("the environment variable 'WHO' is not set"), "\(command): \(run.errors)")
            #expect(run.status == 1, "\(command)")
        }
        let config = String(
            decoding: try Data(contentsOf: sandbox.folder.appendingPathComponent("service.json")), as: UTF8.self)
        for (right, wrong, path) in [
            ("\"Bearer ${TOKEN}\"", "\"Bearer\\n${TOKEN}\"", "headers.Authorization"), ("${WHO}", "${WHO", "user"),
            ("\"manual\"", "\"${POLICY}\"", "policy"), ("\"version\": \"version\"", "\"verion\": 1", "rest.verion"),
        ] {
            _ = try sandbox.file("service.json", config.replacingOccurrences(of: right, with: wrong))
            let run = try sandbox.shell("$SYNCDB status \(Self.files)")
            #expect(run.errors.contains(path) && run.status == 1, "\(wrong): \(run.errors)")
        }
    }

    @Test("A variable with the user is compared with the user of the database")
    func userIsCompared() throws {
        let (sandbox, server) = try sandbox()
        defer { withExtendedLifetime(server) {} }
        let other = try sandbox.shell("WHO=bob $SYNCDB status \(Self.files)")
        #expect(other.errors.contains("the database belongs to another user"), "\(other.errors)")
        let same = try sandbox.shell("WHO=ann $SYNCDB status \(Self.files)")
        #expect(same.status == 0, "\(same.errors)")
    }
}

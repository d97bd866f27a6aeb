import Foundation
import Sync
import Testing

/// The hints in errors of `syncdb sync`, and the timeout of the credentials command.
@Suite("Hints in errors of service commands")
struct ServiceHintTests {
    private static let model = #"{"entities": {"Task": {"attributes": {"id": "integer", "title": "string"}}}}"#
    private static let engine = ["-d", "app.sqlite", "-c", "service.json"]

    private func sandbox(_ url: String, _ more: String = "") throws -> Sandbox {
        let sandbox = try Sandbox()
        _ = try sandbox.file("model.json", Self.model)
        _ = try sandbox.file(
            "service.json", #"{"service": "rest", "url": "\#(url)", "entities": {"Task": {}}, "sweep": 0\#(more)}"#)
        return sandbox
    }

    @Test("A sync over the deletion limit names --max-delete, and no option of imports", arguments: ["sync", "pull"])
    func limitIsNamed(_ command: String) throws {
        let folder = try Sandbox()
        let rows = (1...20).map { JSONValue.object([.init("id", JSONValue($0))]) }
        let server = try AnswerServer(in: folder.folder, ["GET /tasks": ["body": .array(rows)]])
        let sandbox = try sandbox(server.url)
        #expect(try sandbox.run([command] + Self.engine + ["--model", "model.json"]).status == 0)
        try server.say(["GET /tasks": ["body": .array([["id": 99], rows[0]])]])
        let refused = try sandbox.run([command] + Self.engine)
        #expect(refused.status == 3)
        #expect(refused.output == "Task: pulled: 1 inserted\n")
        let again = try sandbox.run([command] + Self.engine + ["--json"])
        #expect(again.status == 3)
        #expect(try JSONValue(parsing: again.output)["entities"]?["Task"]?["inserted"] == 0)
        #expect(try sandbox.run([command] + Self.engine).output == "nothing new\n")
        #expect(refused.errors.contains("--max-delete") && !refused.errors.contains("--delta"), "\(refused.errors)")
        #expect(try sandbox.run([command] + Self.engine + ["--max-delete", "100%"]).status == 0)
    }

    @Test("A model that loses data is an error that names the command to allow it")
    func lossIsNamed() throws {
        let folder = try Sandbox()
        let server = try AnswerServer(in: folder.folder, ["GET /tasks": ["body": [["id": 1, "title": "t"]]]])
        let sandbox = try sandbox(server.url)
        #expect(try sandbox.run(["sync"] + Self.engine + ["--model", "model.json"]).status == 0)
        _ = try sandbox.file("small.json", #"{"entities": {"Task": {"attributes": {"id": "integer"}}}}"#)
        let refused = try sandbox.run(["sync"] + Self.engine + ["--model", "small.json"])
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains("hint: use 'syncdb schema migrate --allow-loss' to accept the data loss"),
            "\(refused.errors)")
    }

    @Test("An entity of the configuration that the model does not have is an error that names the file and the place")
    func unknownEntityIsLocated() throws {
        let sandbox = try sandbox("http://127.0.0.1:9")
        _ = try sandbox.file(
            "service.json", #"{"service": "rest", "url": "http://127.0.0.1:9", "entities": {"Taks": {}}}"#)
        let run = try sandbox.run(["pull"] + Self.engine + ["--model", "model.json"])
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: service.json: unknown entity 'Taks'; "), "\(run.errors)")
        #expect(run.errors.contains("(at entities.Taks)"), "\(run.errors)")
    }

    @Test("A path that the service does not have is an error with the URL, without its query")
    func missingPathNamesURL() throws {
        let folder = try Sandbox()
        let server = try AnswerServer(in: folder.folder, ["GET /none": ["body": []]])
        let sandbox = try sandbox("\(server.url)/v1", #", "rest": {"since": "since"}"#)
        let run = try sandbox.run(["pull"] + Self.engine + ["--model", "model.json"])
        #expect(run.status == 1)
        #expect(run.errors.contains("(GET \(server.url)/v1/tasks)"), "\(run.errors)")
    }

    @Test(
        "A credentials command that does not end is ended after the timeout",
        arguments: [
            #"["sleep", "60"]"#, #"["sh", "-c", "sleep 60; true"]"#, #"["sh", "-c", "exec >&-; exec sleep 60"]"#,
        ])
    func credentialsCommandTimesOut(_ command: String) throws {
        let sandbox = try sandbox("http://127.0.0.1:9", #", "timeout": 1, "credentials": {"command": \#(command)}"#)
        let run = try sandbox.run(["sync"] + Self.engine + ["--model", "model.json"])
        #expect(run.status == 1)
        #expect(run.errors.contains("took longer than 1 s and was stopped"), "\(run.errors)")
    }
}

import Foundation
import Sync
import Testing

/// A folder with a model of tasks, a stub of a service, and a configuration for both.
final class ServiceSetting {
    let sandbox: Sandbox
    let server: AnswerServer

    private static let model = """
        {"entities": {"Task": {"attributes": {"id": "integer", "title": "string", "points": "integer"}},
          "Tag": {"attributes": {"id": "integer", "name": "string"}}}}
        """

    /// - Parameters:
    ///   - answers: The responses to the first requests. An empty list of tags is added.
    ///   - more: Members of the configuration.
    init(_ answers: [JSONValue.Member], _ more: String = "") throws {
        sandbox = try Sandbox()
        server = try AnswerServer(in: sandbox.folder, Self.answers(answers))
        _ = try sandbox.file("model.json", Self.model)
        try configure(more)
    }

    func configure(_ more: String = "", url: String? = nil) throws {
        _ = try sandbox.file(
            "service.json",
            """
            {"service": "rest", "url": "\(url ?? server.url)", "entities": {"Task": {}, "Tag": {}}, "sweep": 0\(more)}
            """)
    }

    private static func answers(_ answers: [JSONValue.Member]) -> JSONValue {
        .object(answers + (answers.contains { $0.key == "GET /tags" } ? [] : [.init("GET /tags", ["body": []])]))
    }

    func say(_ answers: [JSONValue.Member]) throws { try server.say(Self.answers(answers)) }

    /// Returns the arguments of a command, with the model for a new database.
    func arguments(_ words: [String]) throws -> [String] {
        [words[0], "-d", "app.sqlite", "-c", "service.json"] + words.dropFirst()
            + (try sandbox.files.contains("app.sqlite") ? [] : ["--model", "model.json"])
    }

    func run(_ words: String...) throws -> Program.Run { try sandbox.run(try arguments(words)) }

    /// Creates the database with an import, without an engine.
    func importNothing() throws {
        let arguments = ["import", "-", "--entity", "Task", "--model", "model.json", "-d", "app.sqlite"]
        let run = try sandbox.run(arguments, input: "[]")
        try #require(run.status == 0, "\(run.errors)")
    }

    /// Returns the response with a list of tasks.
    static func tasks(_ tasks: JSONValue) -> JSONValue.Member { .init("GET /tasks", ["body": tasks]) }
}

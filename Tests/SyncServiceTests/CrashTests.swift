import Foundation
import GRDB
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// A process that is killed at each of its commits, before and after it, with a Kinto server that really runs. The next run
/// of the same database must end as if nothing had happened.
@Suite("A killed process", .enabled("Kinto comes from PyPI, which cannot be reached") { await KintoServer.isThere })
struct CrashTests {
    private static let model = """
        {"entities": {
          "Project": {"attributes": {"id": "string", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project", "deleteRule": "cascade"}}},
          "Task": {"attributes": {"id": "string", "title": "string", "points": "integer"},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"}}}
        }}
        """

    @Test("loses nothing and makes nothing twice", arguments: ["before", "after"])
    func killed(_ moment: String) async throws {
        var commit = 1
        var isDone = false
        while !isDone {
            isDone = try await kill(at: commit, moment)
            commit += LongTests.count(5, many: 1)
            #expect(commit < 200)
        }
        #expect(commit > 4)
    }

    /// - Returns: Whether the process ended before it was killed.
    private func kill(at commit: Int, _ moment: String) async throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("crash-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let user = "Basic " + Data("\(UUID().uuidString):pw".utf8).base64EncodedString()
        let address = try await KintoServer.shared.url()
        let configuration: JSONValue = [
            "service": "kinto", "url": .string(address.absoluteString), "entities": ["Project": [:], "Task": [:]],
            "headers": ["Authorization": .string(user)],
        ]
        let (model, config, database) = (
            folder.appendingPathComponent("model.json"), folder.appendingPathComponent("config.json"),
            folder.appendingPathComponent("store.sqlite")
        )
        try Data(Self.model.utf8).write(to: model)
        try JSONEncoder().encode(configuration).write(to: config)
        let entities: [SyncedEntity] = ["Project", "Task"]
        func stack(_ url: URL?) throws -> DataStack {
            let model = try SyncModel(schema: Data(Self.model.utf8))
            return try url.map { try DataStack(model: model, at: $0) } ?? .inMemory(model)
        }
        // Another device made what is there, and changes some of it behind the back of the one that dies.
        let other = try Device(
            try stack(nil), try await KintoServer.shared.service(authorization: user), entities: entities)
        for number in 1...3 { try await other.stack.insert("Task", values: ["title": .string("there \(number)")]) }
        try await other.engine.sync()
        do {
            let first = try stack(database)
            let engine = try SyncEngine(
                stack: first, service: try await KintoServer.shared.service(authorization: user), entities: entities)
            try await engine.sync()
            let project = try await first.insert("Project", values: ["name": "new"])
            for number in 1...4 {
                try await first.insert(
                    "Task", values: ["title": .string("here \(number)")], links: ["project": [project]])
            }
            try await first.write { db in
                try db.execute(sql: "UPDATE Task SET points = 1 WHERE title = 'there 1'")
                try db.execute(sql: "DELETE FROM Task WHERE title = 'there 3'")
            }
            try first.close()
        }
        try await other.write("UPDATE Task SET title = 'renamed' WHERE title = 'there 1'")
        try await other.stack.insert("Task", values: ["title": "late"])
        try await other.engine.sync()

        let isDone = try await run([database.path, model.path, config.path, "\(commit)", moment])
        let again = try Device(
            stack: try stack(database), service: try await KintoServer.shared.service(authorization: user), entities)
        try await again.engine.sync()
        try await other.engine.sync()
        let expected = [
            "here 1 nil new", "here 2 nil new", "here 3 nil new", "here 4 nil new", "late nil nil", "renamed 1 nil",
            "there 2 nil nil",
        ]
        for device in [again, other] {
            let rows = try await device.rows(
                """
                SELECT title, points, (SELECT name FROM Project WHERE id = projectID) FROM Task ORDER BY title
                """)
            #expect(rows == expected, "killed \(moment) commit \(commit)")
            #expect(try await device.rows("SELECT count(*) FROM Project") == ["1"])
            let left = try await device.leftovers()
            #expect(left == [], "killed \(moment) commit \(commit)")
        }
        return isDone
    }

    private func run(_ arguments: [String]) async throws -> Bool {
        let process = Process()
        process.executableURL = try Self.executable()
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).contains("done")
    }

    /// Beside the tests.
    private static func executable() throws -> URL {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let url = folder.appendingPathComponent("CrashingDevice")
        guard FileManager.default.isExecutableFile(atPath: url.path) else {
            throw ServerFailure(text: "there is no \(url.path)")
        }
        return url
    }
}

extension Device {
    init(stack: DataStack, service: any SyncService, _ entities: [SyncedEntity]) throws {
        try self.init(stack, service, entities: entities)
    }
}

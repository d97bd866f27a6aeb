import Foundation
import GRDB
import Sync
import SyncTesting
import SyncTools
import TestSize
import Testing

@testable import SyncService

/// A process that is killed at each of its commits, before and after it, with a real server. The next run of the same
/// database must end as if the process had not been killed.
///
/// They need a store in a file, which the next process opens. `InterruptedSyncTests` take every kind of store.
@Suite("A killed process")
struct CrashTests {
    private static let model = """
        {"entities": {
          "Project": {"attributes": {"id": "string", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project", "deleteRule": "cascade"}}},
          "Task": {"attributes": {"id": "string", "title": "string", "points": "integer"},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"}}}
        }}
        """

    @Test(
        "A killed process loses and duplicates nothing with Kinto",
        .enabled("Kinto comes from PyPI, which cannot be reached") { await KintoServer.isThere },
        arguments: ["before", "after"])
    func kinto(_ moment: String) async throws {
        try await killed(moment) { try await KintoPlace() }
    }

    @Test(
        "A killed process loses and duplicates nothing with PocketBase",
        .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere },
        arguments: ["before", "after"])
    func pocketBase(_ moment: String) async throws {
        try await killed(moment) { try await PocketBaseServer.shared.space() }
    }

    @Test(
        "A killed process loses and duplicates nothing with stubs of Parse and of a changes endpoint",
        .enabled(if: RESTServer.isThere, "make services builds the server"),
        arguments: ["before", "after"], ["parse", "changes"])
    func stubs(_ moment: String, _ dialect: String) async throws {
        try await killed(moment) {
            StubPlace(dialect, try await RESTServer.shared.space(["dialect": .string(dialect)]))
        }
    }

    func killed(_ moment: String, _ place: () async throws -> any CrashPlace) async throws {
        var commit = 1
        var isDone = false
        while !isDone {
            isDone = try await kill(at: commit, moment, place())
            commit += LongTests.count(12, many: 1)
            try #require(commit < 200)
        }
        #expect(commit > 4)
    }

    /// - Returns: Whether the process ended before it was killed.
    private func kill(at commit: Int, _ moment: String, _ place: any CrashPlace) async throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("crash-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (model, config, database) = (
            folder.appendingPathComponent("model.json"), folder.appendingPathComponent("config.json"),
            folder.appendingPathComponent("store.sqlite")
        )
        try Data(Self.model.utf8).write(to: model)
        try JSONEncoder().encode(place.configuration).write(to: config)
        let entities: [SyncedEntity] = ["Project", "Task"]
        // The signed-in user owns the database.
        var configuration = Device.configuration
        configuration.userID = try ServiceConfigurationFile(contentsOf: config).engineConfiguration.userID
        func stack(_ url: URL?) throws -> DataStack {
            let model = try SyncModel(schemaData: Data(Self.model.utf8))
            return try url.map { try DataStack(model: model, at: $0) } ?? .inMemory(model)
        }
        // Another device creates the first rows, and later changes some of them without the knowledge of the killed
        // device.
        let other = try Device(
            try stack(nil), place.service, entities: entities)
        for number in 1...3 { try await other.stack.insert("Task", values: ["title": .string("there \(number)")]) }
        try await other.engine.sync()
        do {
            let first = try stack(database)
            let engine = try SyncEngine(
                stack: first, service: place.service, entities: entities, configuration: configuration)
            try await engine.sync()
            let project = try await first.insert("Project", values: ["name": "new"])
            for number in 1...4 {
                try await first.insert(
                    "Task", values: ["title": .string("here \(number)")], relationships: ["project": [project]])
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
        let again = try Device(try stack(database), place.service, entities: entities, configuration)
        try await again.engine.sync()
        try await other.engine.sync()
        let expected = [
            "here 1 nil new", "here 2 nil new", "here 3 nil new", "here 4 nil new", "late nil nil", "renamed 1 nil",
            "there 2 nil nil",
        ]
        for device in [again, other] {
            let rows = try await device.rows(
                """
                SELECT title, nullif(points, 0), (SELECT name FROM Project WHERE id = projectID) FROM Task ORDER BY title
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
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let isDone = String(decoding: data, as: UTF8.self).contains("done")
        guard isDone || process.terminationStatus == SIGKILL else {
            throw ServerFailure(text: "the device ended by itself, with status \(process.terminationStatus)")
        }
        return isDone
    }

    /// Returns the program next to the tests.
    private static func executable() throws -> URL {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let url = folder.appendingPathComponent("CrashingDevice")
        guard FileManager.default.isExecutableFile(atPath: url.path) else {
            throw ServerFailure(text: "there is no \(url.path)")
        }
        return url
    }
}

/// The service of the killed device and of another device.
protocol CrashPlace: Sendable {
    var service: any SyncService { get }
    /// The configuration file for the separate process.
    var configuration: JSONValue { get }
}

/// A user of Kinto.
struct KintoPlace: CrashPlace {
    let service: any SyncService
    let configuration: JSONValue

    init() async throws {
        let user = "Basic " + Data("\(UUID().uuidString):pw".utf8).base64EncodedString()
        let address = try await KintoServer.shared.url()
        service = try await KintoServer.shared.service(authorization: user)
        configuration = [
            "service": "kinto", "url": .string(address.absoluteString), "entities": ["Project": [:], "Task": [:]],
            "headers": ["Authorization": .string(user)],
        ]
    }
}

/// A space of the stubs.
struct StubPlace: CrashPlace {
    let service: any SyncService
    let configuration: JSONValue

    init(_ dialect: String, _ space: RESTSpace) {
        let isParse = dialect == "parse"
        let url = isParse ? space.url : space.url.appendingPathComponent("sync")
        service =
            isParse
            ? ParseService(baseURL: url, options: ParseOptions(applicationID: "app")) : WatermelonService(url: url)
        var members: [JSONValue.Member] = [
            .init("service", .string(dialect)), .init("url", .string(url.absoluteString)),
            .init("entities", ["Project": [:], "Task": [:]]),
        ]
        if isParse { members.append(.init("parse", ["applicationID": "app"])) }
        configuration = .object(members)
    }
}

extension PocketBaseSpace: CrashPlace {
    var service: any SyncService { service() }
    var configuration: JSONValue {
        [
            "service": "pocketbase", "url": .string(url.absoluteString),
            "entities": ["Project": ["path": .string(projects)], "Task": ["path": .string(tasks)]],
            "pocketbase": [
                "login": ["collection": "_superusers", "identity": "root@example.com", "password": "rootroot"]
            ],
        ]
    }
}

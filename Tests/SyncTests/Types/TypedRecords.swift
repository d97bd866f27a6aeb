import Foundation
import GRDB
import Sync

enum Stage: String, Codable, Sendable { case open, done }

struct Place: Codable, Hashable, Sendable {
    var street: String
    var floor: Int?
}

/// A type as `@Entity` would generate it, written by hand.
struct Job: EntityRecord, Equatable {
    var id: Int
    var stage: Stage?
    var level: Int8?
    var place: Place?
    var tasks = RelatedRows<Chore>()
    var syncFetchedRow = FetchedRow()

    static let entityName = "Job"
    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName,
            attributes: [
                .init("id", Int.self, isKey: true), .init("stage", Stage?.self), .init("level", Int8?.self),
                .init("place", Place?.self),
            ],
            relationships: [.init("tasks", to: Chore.self, many: true, inverse: "job")])
    }
    static var syncProperties: [PartialKeyPath<Job>: SyncProperty] {
        [
            \.id: "id", \.stage: "stage", \.level: "level", \.place: "place",
            \.tasks: SyncProperty("tasks", to: Chore.self),
        ]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int) { self.id = id }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        stage = try row.value("stage")
        level = try row.value("level")
        place = try row.value("place")
    }

    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("stage", to: stage)
        try row.set("level", to: level)
        try row.set("place", to: place)
        row.setRelated("tasks", to: tasks)
    }

    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { tasks.load(rows) }
}

/// A type with a composite key, one part of which is a relationship.
struct Chore: EntityRecord, Equatable {
    var jobID: Int?
    var number: Int
    var stage: Stage = .open
    var text: String?
    var syncFetchedRow = FetchedRow()

    static let entityName = "Chore"
    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, primaryKey: ["job", "number"],
            attributes: [
                .init("number", Int.self, isKey: true), .init("stage", Stage.self, default: .open),
                .init("text", String?.self),
            ],
            relationships: [.init("job", to: Job.self, inverse: "tasks")])
    }
    static var syncProperties: [PartialKeyPath<Chore>: SyncProperty] {
        [\.number: "number", \.stage: "stage", \.text: "text", \.jobID: SyncProperty("job", to: Job.self)]
    }
    typealias SyncKey = RowNumber
    var syncKey: RowNumber? { nil }
    var syncID: JSONValue { Self.syncID(of: jobID, number) }

    init(job: Int?, number: Int, text: String? = nil) {
        (jobID, self.number, self.text) = (job, number, text)
    }

    init(entityRow row: EntityRowDecoder) throws {
        jobID = try row.value("jobID")
        number = try row.value("number")
        stage = try row.value("stage")
        text = try row.value("text")
    }

    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("number", to: number)
        try row.set("stage", to: stage)
        try row.set("text", to: text)
        row.setForeignKey("job", to: jobID, in: "jobID")
    }
}

/// A keyless type.
struct Scrap: EntityRecord, Equatable {
    var text: String?

    static let entityName = "Scrap"
    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(entityName, attributes: [.init("text", String?.self)])
    }
    static var syncProperties: [PartialKeyPath<Scrap>: SyncProperty] { [\.text: "text"] }
    typealias SyncKey = RowNumber
    var syncKey: RowNumber? { nil }
    var syncID: JSONValue { .null }

    init(text: String?) { self.text = text }
    init(entityRow row: EntityRowDecoder) throws { text = try row.value("text") }
    func encode(into row: inout EntityRowEncoder) throws { try row.set("text", to: text) }
}

/// A row of an existing table whose SQLite primary key is an ID of the app.
struct Author: EntityRecord, Equatable {
    var remoteID: Int
    var name: String?

    static let entityName = "Author"
    static let databaseTableName = "authors"
    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName,
            attributes: [.init("remoteID", Int.self, isKey: true, column: "remote_id"), .init("name", String?.self)],
            table: "authors")
    }
    static var syncProperties: [PartialKeyPath<Author>: SyncProperty] { [\.remoteID: "remoteID", \.name: "name"] }
    typealias SyncKey = Int
    var syncKey: Int? { remoteID }
    var syncID: JSONValue { Self.syncID(of: remoteID) }

    init(remoteID: Int, name: String?) { (self.remoteID, self.name) = (remoteID, name) }

    init(entityRow row: EntityRowDecoder) throws {
        remoteID = try row.value("remote_id")
        name = try row.value("name")
    }

    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("remoteID", to: remoteID, in: "remote_id")
        try row.set("name", to: name)
    }
}

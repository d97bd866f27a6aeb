import Foundation
import GRDB
import Sync
import SyncTesting

@testable import SyncService

/// A store with an engine, as on a user's device.
struct Device {
    let stack: DataStack
    let engine: SyncEngine

    /// The position column of a task's tags, if the list is ordered.
    static let place = "sync_inverse_order"

    static let schema = """
        {"entities": {
          "Project": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project", "deleteRule": "cascade"}}},
          "Task": {"attributes": {"remoteID": {"type": "integer"}, "title": {"type": "string"}, "done": {"type": "boolean"},
              "points": {"type": "integer"}},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"},
              "tags": {"entity": "Tag", "many": true, "inverse": "tasks"}}},
          "Tag": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags"}}}
        }}
        """

    init(
        _ service: any SyncService, schema: String = Device.schema,
        entities: [SyncedEntity] = ["Project", "Task", "Tag"],
        _ configuration: SyncEngine.Configuration = Device.configuration
    ) throws {
        stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        engine = try SyncEngine(stack: stack, service: service, entities: entities, configuration: configuration)
    }

    init(
        _ stack: DataStack, _ service: any SyncService, entities: [SyncedEntity] = ["Project", "Task", "Tag"],
        _ configuration: SyncEngine.Configuration = Device.configuration
    ) throws {
        self.stack = stack
        engine = try SyncEngine(stack: stack, service: service, entities: entities, configuration: configuration)
    }

    /// A configuration without delays.
    static var configuration: SyncEngine.Configuration {
        var configuration = SyncEngine.Configuration()
        configuration.clock.sleep = { _ in }
        configuration.clock.random = { 0 }
        configuration.reconciliationInterval = .zero
        configuration.maxAttempts = 100
        return configuration
    }

    /// A configuration without delays and with one attempt, so that a failure ends the run at once.
    static var impatient: SyncEngine.Configuration {
        var configuration = configuration
        configuration.maxAttempts = 1
        return configuration
    }

    func write(_ sql: String) async throws {
        try await stack.write { db in try db.execute(sql: sql) }
    }

    func rows(_ sql: String) async throws -> [String] {
        try await stack.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map { value in
                    switch value.storage {
                    case .null: "nil"
                    case .int64(let number): "\(number)"
                    case .double(let number): "\(number)"
                    case .string(let text): text
                    case .blob: "blob"
                    }
                }.joined(separator: " ")
            }
        }
    }

    /// Removes the triggers of the outbox, as a tool does that rebuilds tables.
    func removeTriggers() async throws {
        try await stack.write { db in
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'sync_outbox_*'")
            for name in names { try db.execute(sql: "DROP TRIGGER \"\(name)\"") }
        }
    }

    /// Returns the rows that a completed run must not leave in the engine's tables.
    func leftovers() async throws -> [String] {
        try await rows(
            """
            SELECT 'change', e, k, kind, state, message FROM sync_outbox UNION ALL SELECT 'base', e, k, field, value, '' FROM sync_base
            UNION ALL SELECT 'request', e, k, kind, idempotency_key, '' FROM sync_request UNION ALL SELECT 'mute', mode, '', '', '', '' FROM sync_capture_off
            UNION ALL SELECT 'link', link, owner, other, op, '' FROM sync_link UNION ALL SELECT 'sent', request, field, value, '', '' FROM sync_sent
            UNION ALL SELECT 'inbound', e, k, body, message, '' FROM sync_quarantine
            UNION ALL SELECT 'gone', e, id, source, '', '' FROM sync_tombstone UNION ALL SELECT 'sweep', e, '', '', '', '' FROM sync_sweep
            UNION ALL SELECT 'unsent', e, k, '', '', '' FROM sync_unsent
            UNION ALL SELECT 'made', e, k, field, edited, '' FROM sync_made
            UNION ALL SELECT 'tried', e, k, field, value, '' FROM sync_tried
            UNION ALL SELECT 'next', e, next, '', '', '' FROM sync_cursor WHERE next IS NOT NULL
            UNION ALL SELECT 'parting', list, owner, other, '', '' FROM sync_parting
            UNION ALL SELECT 'lease', holder, token, until, '', '' FROM sync_lease WHERE holder <> ''
            """)
    }
}

extension SyncedEntity {
    /// Returns an entity whose rows are merged as a whole: the last device that syncs wins.
    static func mergingWholeRow(_ name: String) -> SyncedEntity {
        SyncedEntity(name, conflictPolicy: .clientWins, mergesWholeRow: true)
    }
}

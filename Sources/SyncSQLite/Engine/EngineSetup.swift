import Foundation
import GRDB
import SyncCore
import SyncStore

/// Prepares a database for an engine, in one transaction.
struct EngineSetup {
    private let stack: DataStack
    private let registration: EngineRegistration
    private let isImport: Bool
    private let db: Database
    private var ledger: EngineLedger { EngineLedger(db) }

    init(_ stack: DataStack, _ registration: EngineRegistration, isImport: Bool, _ db: Database) {
        (self.stack, self.registration, self.isImport, self.db) = (stack, registration, isImport, db)
    }

    /// Creates or upgrades the engine's tables, checks the registration, and creates the triggers. Returns the tables
    /// of the registered entities, those of entities that only other engines sync, and the identity of the sync state.
    func open() throws -> (own: [TrackedTable], others: [TrackedTable], identity: String) {
        let found = try EngineSchema.triggers(in: db)
        var isUpgraded = false
        if try EngineSchema.names(in: db) == nil {
            try EngineSchema.create(in: db)
            try ledger.insertScope(service: registration.service, user: registration.user)
        } else {
            isUpgraded = try EngineUpgrade.upgrade(in: db)
            try checkScope()
        }
        var newTables: Set<Int> = []
        let tables = try registration.entities.map { entity -> TrackedTable in
            let known = try ledger.number(of: entity.name)
            let number = try known ?? ledger.insertEntity(entity.name)
            let table = try TrackedTable(
                entity, number: number, supportsCompositeIDs: registration.supportsCompositeIDs, stack.model,
                stack.layout)
            if known == nil {
                // An earlier version of the library may have left entries of a former entity with this number.
                try ledger.deleteEntries(of: number)
                try ledger.insertPreexisting(table)
                newTables.insert(number)
            }
            return table
        }
        try checkKeys(tables)
        try checkFamilies(tables)
        if !isImport { try checkLists(tables) }
        let others = try otherTables(than: tables)
        if isImport {
            // An import sends no changes. It leaves the triggers of other entities as they are.
            if isUpgraded { try restoreTriggers(tables + others, found) }
            let triggers = try EngineSchema.triggers(in: db)
            for table in tables { try importPages(table, triggers) }
        } else {
            try installTriggers(tables, others, newTables: newTables, found: found)
        }
        return (tables, others, try ledger.createIdentity())
    }

    /// Returns the tables of entities that only other engines sync. Skips entities that share rows with registered
    /// entities or that this engine could not sync.
    private func otherTables(than tables: [TrackedTable]) throws -> [TrackedTable] {
        let compiled = stack.model.compiled
        let families = Set(tables.flatMap(\.entity.family))
        return try ledger.entities().compactMap { number, name in
            guard let entity = try? compiled.entity(named: name), families.isDisjoint(with: entity.family) else {
                return nil
            }
            return TrackedTable.ofOtherEngine(
                name, number: number, supportsCompositeIDs: registration.supportsCompositeIDs, sendsCascades: true,
                stack)
        }
    }

    /// If service and user are known, checks that the database belongs to them, so that rows of one service are never
    /// sent to another. A database that has not exchanged data yet is assigned to this service and user.
    private func checkScope() throws {
        let (_, service, user) = try ledger.scope()
        guard registration.isScopeKnown else { return }
        if service == registration.service, user == registration.user { return }
        guard try !ledger.hasExchangedData() else {
            let isMoved = service != registration.service
            throw SyncError(
                isMoved ? .serviceMismatch : .userMismatch,
                "the database belongs to "
                    + (isMoved ? "\(service), not \(registration.service)" : "another user of \(service)")
                    + "; use one database for each service and user, or first remove the sync state of the other one "
                    + "(DataStack.removeSyncState, or 'syncdb reset local', which also deletes the rows)"
                    + (isMoved ? "; if the service has moved, set 'identity': \"\(service)\"" : ""))
        }
        try ledger.setScope(service: registration.service, user: registration.user)
    }

    private func checkKeys(_ tables: [TrackedTable]) throws {
        guard registration.clientAssignsIDs else { return }
        for table in tables {
            guard case .single(let type) = table.key.type, ![.uuid, .string, .integer].contains(type) else { continue }
            throw refusal(
                "the service requires the client to create IDs, and IDs of type \(type.rawValue) cannot be generated",
                table)
        }
    }

    private func refusal(_ message: String, _ table: TrackedTable) -> SyncError {
        SyncError(.invalidOption, message, entity: table.entity.name)
    }

    /// Checks that no two registered entities share rows. The rows of a subentity are also rows of the entities that it
    /// inherits from.
    private func checkFamilies(_ tables: [TrackedTable]) throws {
        for table in tables {
            for other in tables where other.number != table.number && other.entity.family.contains(table.entity.id) {
                throw refusal(
                    "the rows of the entity are also rows of '\(other.entity.name)'; register only one of the two",
                    table)
            }
        }
    }

    /// Checks that no synced one-to-many relationship is ordered. Its rows are sent with a foreign key to their owner,
    /// so no request contains their order.
    private func checkLists(_ tables: [TrackedTable]) throws {
        let model = stack.model.compiled
        for table in tables {
            let ordered = table.entity.family.lazy.flatMap { model.entities[$0].relationships }.first { list in
                let (link, declared) = (model[list.link], list.relationship)
                return link.storage == .foreignKey && declared.isToMany && declared.isOrdered && declared.isExported
            }
            guard let name = ordered?.relationship.name else { continue }
            throw refusal(
                "the order of '\(name)' cannot be sent, since a one-to-many relationship is sent as the foreign keys of its rows; "
                    + "remove 'ordered' from the model, or keep the order local ('export': false, in Swift @NotExported)",
                table)
        }
    }

    // MARK: Triggers

    /// Creates the triggers, unless identical triggers exist. Drops triggers that are not needed. If triggers were
    /// missing, finds the edits that they missed. Entities of other engines keep their triggers, since their rows may
    /// be edited locally, or deleted by a cascade. Entities that were only imported have no triggers. `newTables` has
    /// the numbers of the entities that were not registered before. `found` has the triggers before the engine's tables
    /// were upgraded.
    private func installTriggers(
        _ own: [TrackedTable], _ others: [TrackedTable], newTables: Set<Int>, found: [(name: String, sql: String)]
    ) throws {
        let tables = try own + others.filter { try $0.isWatched(in: db) }
        let statements = try tables.map { try triggers(of: $0, among: tables) }
        let wasMuted = try CaptureSuppression.isAnySet(in: db)
        let owned = Set(own.map(\.number))
        if Set(statements.joined()) == Set(found.map(\.sql)), !wasMuted,
            try tables.allSatisfy({
                try TriggerChecksums.isOfOther(ledger.triggerChecksums(of: $0.number)) != owned.contains($0.number)
            })
        {
            for table in tables { try SyncedColumns(table, db).pullNew() }
            return
        }
        try EngineSchema.removeTriggers(from: db)
        for statement in statements.joined() { try db.execute(sql: statement) }
        try CaptureSuppression.clearAll(in: db)
        let checksums = TriggerChecksums(found.map(\.sql))
        // The audits read these keys, also those of referenced rows.
        for table in tables { try ledger.repairSurrogateKeys(of: table, among: tables) }
        for (table, statements) in zip(tables, statements) {
            let stored = TriggerChecksums(text: try ledger.triggerChecksums(of: table.number))
            let isWatched = !wasMuted && stored.areAll(in: checksums)
            if !isWatched, !newTables.contains(table.number) { try audit(table) }
            // `REPLACE` may have deleted rows through a unique index that the former triggers did not cover.
            if isWatched { try ledger.insertMissing(table) }
            try SyncedColumns(table, db).pullNew()
            try ledger.setTriggerChecksums(
                TriggerChecksums(statements).text(isOfOther: !owned.contains(table.number)), of: table.number)
        }
    }

    private func triggers(of table: TrackedTable, among tables: [TrackedTable]) throws -> [String] {
        try ChangeCaptureTriggers(
            table, uniqueColumns: UniqueColumns(table.table, db).indexes, among: tables, stack.layout
        ).statements
    }

    /// Creates the triggers that an upgrade dropped, of entities whose triggers existed before the upgrade. The next
    /// engine finds the edits of the other entities.
    private func restoreTriggers(_ tables: [TrackedTable], _ found: [(name: String, sql: String)]) throws {
        let watched = try tables.filter { try $0.isWatched(in: db) }
        let checksums = TriggerChecksums(found.map(\.sql))
        for table in watched {
            let stored = try ledger.triggerChecksums(of: table.number)
            guard TriggerChecksums(text: stored).areAll(in: checksums) else { continue }
            let statements = try triggers(of: table, among: watched)
            for statement in statements { try db.execute(sql: statement) }
            try ledger.setTriggerChecksums(
                TriggerChecksums(statements).text(isOfOther: TriggerChecksums.isOfOther(stored)), of: table.number)
        }
    }

    /// Drops the triggers of an imported entity, unless the engine that was opened last syncs the entity and all its
    /// triggers exist. Edits of entities that are only imported are not captured.
    private func importPages(_ table: TrackedTable, _ found: [(name: String, sql: String)]) throws {
        try SyncedColumns(table, db).pullNew()
        let last = try ledger.triggerChecksums(of: table.number)
        let checksums = TriggerChecksums(text: last)
        if !TriggerChecksums.isOfOther(last), checksums.areAll(in: TriggerChecksums(found.map(\.sql))) { return }
        for trigger in found where TriggerChecksums([trigger.sql]).areAll(in: checksums) {
            try db.execute(sql: "DROP TRIGGER IF EXISTS \(trigger.name.quoted)")
        }
        try ledger.setTriggerChecksums("", of: table.number)
    }

    /// Finds edits that the triggers may have missed. Missing rows are recorded as deleted locally, and unknown rows as
    /// created locally. The next pull gets all rows, and the merge compares the other rows. See ``EditRebase``. If the
    /// entity was only imported before, missing rows are not recorded as deleted, and the pull restores them.
    private func audit(_ table: TrackedTable) throws {
        try table.auditMissing(in: db)
        try ledger.reopenReinserted(table)
        for joinTable in table.joinTables { try ledger.deleteContradictingJoinEdits(of: joinTable, table) }
        try ledger.insertUnknown(table)
        try ledger.clearCursor(of: table)
        try ledger.setUncaptured(table)
    }
}

/// The checksums of an entity's triggers. If the database has the triggers with the stored checksums, the engine
/// assumes that they missed no edit.
struct TriggerChecksums {
    /// The word in the stored text that marks an entity of another engine than the one that was opened last.
    private static let ofOther: Substring = "-"

    private let checksums: Set<Substring>

    init(_ statements: some Sequence<String>) { checksums = Set(statements.map { Self.checksum($0)[...] }) }

    /// - Parameter text: A text that ``text(isOfOther:)`` returned.
    init(text: String) { checksums = Set(text.split(separator: " ")).subtracting([Self.ofOther]) }

    /// Returns the checksums as the column `triggers` stores them. `isOfOther`: whether the entity belongs to another
    /// engine than the one that is being opened.
    func text(isOfOther: Bool) -> String {
        (checksums.sorted() + (isOfOther ? [Self.ofOther] : [])).joined(separator: " ")
    }

    /// Returns whether a stored text marks an entity of another engine than the one that was opened last.
    static func isOfOther(_ text: String) -> Bool { text.split(separator: " ").contains(ofOther) }

    func areAll(in others: TriggerChecksums) -> Bool { !checksums.isEmpty && checksums.isSubset(of: others.checksums) }

    private static func checksum(_ statement: String) -> String {
        let hasher = RecordHasher(seed: RecordHash(low: 0x5379_6E63, high: 0x5472_6967))
        let hash = Array(statement.utf8).withUnsafeBytes { hasher.hash($0) }
        return String(hash.low, radix: 36) + String(hash.high, radix: 36)
    }
}

/// The columns of each unique index of a table, except the index of its key and indexes with expressions.
struct UniqueColumns {
    let indexes: [[String]]

    init(_ table: TableLayout, _ db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM pragma_index_list(?) WHERE \"unique\"", arguments: [table.name])
        let columns: [[String?]] = try names.map { index in
            try Optional<String>.fetchAll(
                db, sql: "SELECT name FROM pragma_index_info(?) ORDER BY seqno", arguments: [index])
        }
        indexes = columns.compactMap { columns in
            // An expression has no name.
            let names: [String] = columns.compactMap { $0 }
            return names.isEmpty || names.count < columns.count || names == [table.keyColumn] ? nil : names
        }
    }
}

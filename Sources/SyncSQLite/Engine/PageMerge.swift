import Foundation
import GRDB
import SyncCore
import SyncStore

/// Merges pulled rows with local edits. It removes the edits, writes the rows like any sync, and reapplies the edits by
/// a three-way merge.
///
/// When the edits are reapplied, the rows have the service's values. So the merge does not depend on the format of
/// records.
struct PageMerge {
    typealias PulledRow = (row: RemoteRecord, standing: LocalRowState)

    struct Options {
        /// Whether a locally created row with the key of a pulled row is that row.
        var isSame = false
        /// Whether the service lacks the rows without a record. If false, the service reported these rows as deleted.
        var isMissing = false
        /// Whether a row keeps its known version if its record has none. The service then rejects a change of the row if
        /// it has another version.
        var keepsVersions = false
        /// The rows without a record that are created again. See ``CascadeLinks/restoredRows()``.
        var restoredRows: Set<TrackedRow> = []
    }

    let engine: SQLiteEngineStore
    let table: TrackedTable
    let options: Options
    private let clock: Int64
    let entries: RowEntries
    let db: Database
    var ledger: EngineLedger { EngineLedger(db) }
    var outcome = SyncReport()
    /// The rows that could not be stored, with the reason.
    private(set) var refused: [(row: RemoteRecord, reason: String)] = []
    private var preexisting: PreexistingRows
    /// The edits of locally deleted rows that are restored.
    var lost: [(edits: [ConflictLog.DeletedEdit], resolution: ConflictOutcome)] = []
    private(set) lazy var cascadeLinks = CascadeLinks(engine, db)
    /// The rows that were deleted locally with rows that are restored.
    var deletedTogether: [TrackedRow] = []

    init(
        _ engine: SQLiteEngineStore, _ table: TrackedTable, _ options: Options, clock: Int64, _ entries: RowEntries,
        _ db: Database
    ) {
        (self.engine, self.table, self.options, self.clock) = (engine, table, options, clock)
        (self.entries, self.db) = (entries, db)
        preexisting = PreexistingRows(engine, db)
    }

    mutating func apply(_ rows: [RemoteRecord]) throws {
        var written: [PulledRow] = []
        var editedRows: [PulledRow] = []
        var deleted: [PulledRow] = []
        let newRows = engine.newRows(of: table)
        let (hasCreationIDs, hasNaturalKeys) = try newRows.read(in: db)
        for row in rows {
            guard var key = try table.key.engineKey(of: row.id, in: db) else {
                refused.append((row, "the ID of the record is not a valid key of \(table.entity.name)"))
                continue
            }
            let marked = hasCreationIDs ? try newRows.matchCreationID(of: row, key, engine, db) : nil
            let matched = try marked ?? (hasNaturalKeys ? newRows.matchNaturalKey(of: row, key, engine, db) : nil)
            if let matched {
                // The matched row had another key, which a later record of the page may have.
                entries.discardAll()
                key = matched
            }
            let isOurs = options.isSame || matched != nil || engine.registration.clientAssignsIDs || table.key.hasParts
            let standing = try LocalRowState(of: key, table, entries)
            if standing.state != .clean, standing.state != .absent { entries.discard(key) }
            if standing.isBlockedAsMissing, row.record != nil { try isThereAfterAll(row, key) }
            // The deletion shows that the row was created at the service.
            let wasMade = row.record == nil && standing.isTried && standing.state == .created
            switch DecisionTable.action(remote: try remote(row, standing), local: wasMade ? .updated : standing.state) {
            case .nothing where row.record == nil: try engine.deletePendingReferences(to: key, of: table, in: db)
            case .nothing, .send: break
            case .takeRemote, .insert:
                written.append((row, standing))
                try preexisting.insert(standing, of: table)
                if standing.state == .clean, standing.mayHaveUncapturedEdits { editedRows.append((row, standing)) }
            case .mergeDuplicate:
                if isOurs {
                    editedRows.append((row, standing))
                } else {
                    // The app chose this key for a new row, and the service assigned it to another row.
                    try KeyReplacement(engine, table, db).giveLocalKey(to: key)
                }
                written.append((row, standing))
            case .threeWay:
                try preexisting.insert(standing, of: table)
                editedRows.append((row, standing))
                written.append((row, standing))
            case .localDelete where !standing.isKnown && !isOurs:
                // The pulled row happens to have the key of another row, which was created and deleted locally.
                try deleteState(standing.key)
                written.append((row, standing))
            case .localDelete:
                if try stays(row, standing) { written.append((row, standing)) }
            case .remoteDelete where table.registration.deletions == .editWins:
                let reason: SyncConflict.Reason = options.isMissing ? .missingRemotely : .deletedRemotely
                try bringBack(row, standing, reason.rawValue)
            case .remoteDelete, .delete, .deleteWithinLimit:
                guard options.restoredRows.contains(TrackedRow(table, standing.key)) else {
                    deleted.append((row, standing))
                    continue
                }
                try bringBack(row, standing, "deleted with a row that was edited")
            case .clear:
                try deleteState(standing.key)
                try engine.deletePendingReferences(to: key, of: table, in: db)
            }
        }
        try delete(deleted)
        guard !written.isEmpty else { return }
        try undoDeletions(areReferenced: true)
        try write(written, editedRows)
        try undoDeletions(areReferenced: false)
        for (edits, resolution) in lost {
            outcome[table.entity.name].conflictingValues += try ConflictLog(db).add(edits, table, resolution)
        }
    }

    // MARK: Row states

    private func remote(_ row: RemoteRecord, _ standing: LocalRowState) throws -> RemoteState {
        if row.record == nil { return .deleted }
        guard standing.isKnown else { return .created }
        guard standing.isWhole, let version = row.version, version == standing.version else { return .updated }
        // An import does not capture deletions, so it writes a locally deleted row again.
        if engine.isImport, try !table.isStored(standing.key, in: db) { return .updated }
        return .unchanged
    }

    private func isThereAfterAll(_ row: RemoteRecord, _ key: DatabaseValue) throws {
        try ledger.unblock(.storedRow(table, key))
        try ledger.deleteTombstone(row.id, of: table)
    }

    // MARK: Writing

    static var syncOptions: SyncOptions { SyncOptions(deletionLimit: nil, resultDetail: .counts) }

    /// Maps records for a sync that deletes no rows.
    ///
    /// Registered entities are pulled separately. So a nested list only links and unlinks their rows, and deletes none.
    func graph(of records: [JSONValue]) throws -> PayloadGraph {
        let builder = try PayloadGraphBuilder(
            inEntity: table.entity.name, of: engine.model, parent: nil,
            operations: .all.subtracting(.delete), options: Self.syncOptions)
        return try builder.map(.array(records)).graph.unlinking(engine.unlinkedTables)
    }

    private mutating func write(_ rows: [PulledRow], _ editedRows: [PulledRow]) throws {
        let records = rows.compactMap(\.row.record)
        let graph = try graph(of: records)
        try KeyCollisions(engine, db).removeKeys(namedIn: graph)
        let nested = try NestedRecordMerge(graph, engine, db)
        var references = try OneToOneEdits(graph, engine, clock: clock, db)
        var edits = EditRebase(engine, db, clock: clock)
        for (row, standing) in editedRows { try edits.revert(standing.key, of: table, standing, pulled: row) }
        try nested.revertEdits(&edits)
        try nested.insertPreexisting(in: &preexisting)
        let links = try NestedListLinks(graph, engine, db)
        try links.revertEdits(&edits)
        try references.revert(&edits)
        for (row, standing) in rows { try migrateKind(row, standing) }
        let result = try engine.stack.sync(MappedPayload(graph), Self.syncOptions, in: db, isOwn: true)
        recordUnreadable(result.diagnostics)
        try record(rows, result, graph)
        try nested.record()
        try references.findAddedLinks()
        outcome.add(try edits.reapply())
        try links.reapply()
        outcome.add(try references.reapply(rows, table))
        try preexisting.log(&outcome, counted: edits.conflictingRows)
        outcome[table.entity.name].linksAdded += result.linksAdded
        outcome[table.entity.name].linksRemoved += result.linksRemoved
        for (entity, changes) in result.entities {
            outcome[entity].pulledInserts += changes.insertedCount
            outcome[entity].pulledUpdates += changes.updatedCount
        }
    }

    private mutating func recordUnreadable(_ diagnostics: [SyncDiagnostic]) {
        for diagnostic in diagnostics {
            switch diagnostic.kind {
            case .typeMismatch, .invalidRelationshipValue, .unknownDiscriminatorValue: break
            default: continue
            }
            guard let entity = diagnostic.entity else { continue }
            outcome[entity].unreadableValues += 1
            guard outcome[entity].firstUnreadableValue == nil else { continue }
            // The location in the page is of no use to users, so omit it.
            let member = diagnostic.path.drop { $0 != "]" }.dropFirst(2)
            outcome[entity].firstUnreadableValue =
                "\(entity) \(diagnostic.key ?? ""), \(member): \(diagnostic.message)"
        }
    }

    /// Changes the entity of a stored row if the record has another one. Clears the columns and deletes the links that
    /// the new entity lacks.
    private func migrateKind(_ row: RemoteRecord, _ standing: LocalRowState) throws {
        guard table.table.hasEntityColumn, let record = row.record,
            let kind = table.kind(of: record, engine.model.compiled), try table.isStored(standing.key, in: db),
            try table.kind(of: standing.key, engine.model.compiled, in: db).id != kind.id
        else { return }
        let columns =
            ["\(TableLayout.entityColumn.quoted) = ?"] + table.foreignColumns(to: kind).map { "\($0.quoted) = NULL" }
        try db.run(
            "UPDATE \(table.sql) SET \(columns.joined(separator: ", ")) WHERE \(table.keySQL) = ?", kind.name,
            standing.key)
        try engine.deleteLinks(of: standing.key, table, foreignTo: kind, in: db)
    }

    func recorded(_ row: RemoteRecord, _ standing: LocalRowState) -> (version: String?, time: Int64?) {
        guard options.keepsVersions, row.version == nil else { return (row.version, row.time) }
        return (standing.version, standing.time)
    }

    /// Returns the entry that records a pulled row as known. `isWhole`: whether the store has all values of its version.
    func known(
        _ row: RemoteRecord, _ standing: LocalRowState, _ key: DatabaseValue, isWhole: Bool
    ) throws -> EngineLedger.KnownEntry {
        let (version, time) = recorded(row, standing)
        return EngineLedger.KnownEntry(
            key: key, version: version, time: time, isWhole: isWhole,
            spelled: try table.spelling(of: row.id, key, in: db))
    }

    /// Records the rows as known that are stored now.
    private mutating func record(_ rows: [PulledRow], _ result: SyncResult, _ graph: PayloadGraph) throws {
        // A surrogate key exists once the row is stored.
        let keys = try rows.map { try table.key.engineKey(of: $0.row.id, in: db) }
        let stored = try storedKeys(among: keys.compactMap(\.self), result, graph)
        let unreadable = UnreadableValues(engine, table, db)
        var pulled: [EngineLedger.KnownEntry] = []
        pulled.reserveCapacity(rows.count)
        for ((row, standing), key) in zip(rows, keys) {
            guard let key, stored.contains(key.exact) else {
                refused.append((row, result.diagnostics.first?.message ?? "the record was not stored"))
                continue
            }
            if entries.facts.hasQuarantinedRecords { try QuarantinedRecords(engine, table, db).remove(row.id) }
            pulled.append(try known(row, standing, key, isWhole: row.isComplete))
            try unreadable.record(row.record, of: key, isAny: !result.diagnostics.isEmpty)
        }
        try ledger.insertKnown(pulled, table, .pulled)
    }

    /// Returns the keys of the rows that are stored. If the sync reports no problem, it has stored all records, unless a
    /// trigger of the app has ignored or deleted rows.
    private func storedKeys(
        among keys: [DatabaseValue], _ result: SyncResult, _ graph: PayloadGraph
    ) throws -> Set<BinaryComparedValue> {
        guard result.diagnostics.isEmpty, result.omittedDiagnosticCount == 0, !table.isPart, !table.key.isSurrogate,
            try !EngineSchema.hasOtherTriggers(in: db)
        else { return try table.storedKeys(among: keys, in: db) }
        return graph.withTexts { texts in
            let keys = graph[table.entity.table].nodes.lazy.filter { $0.isGiven && $0.isRoot }
                .compactMap { RowKey($0.key, texts) }
            return Set(keys.map(\.databaseValue.exact))
        }
    }

    mutating func log(
        _ key: DatabaseValue, field: String, local: DatabaseValue, remote: DatabaseValue, _ resolution: ConflictOutcome
    ) throws {
        try ConflictLog(db).add(table, key, field: field, base: .null, local: local, remote: remote, resolution)
        outcome[table.entity.name].conflicts += 1
        outcome[table.entity.name].conflictingValues += 1
    }
}

/// Merges rows that are nested in pulled records. Local edits of a nested row are merged like the edits of a pulled
/// row. The version of a nested row is not known.
///
/// Nested rows of entities that another engine syncs are recorded as known too. Otherwise that engine would send them
/// as new rows.
struct NestedRecordMerge {
    private let engine: SQLiteEngineStore
    private let db: Database
    private var rows: [(table: TrackedTable, key: RowKey, standing: LocalRowState)] = []

    init(_ graph: PayloadGraph, _ engine: SQLiteEngineStore, _ db: Database) throws {
        (self.engine, self.db) = (engine, db)
        let entries = RowEntries(db)
        for table in engine.tables + engine.otherTables {
            let batch = graph[table.entity.table]
            let family = Set(table.entity.family)
            let keys = graph.withTexts { texts in
                batch.nodes.filter { $0.isGiven && !$0.isRoot && family.contains(Int($0.entity)) }
                    .compactMap { RowKey($0.key, texts) }
            }
            for key in keys {
                guard let k = try table.key.engineKey(of: key, in: db) else { continue }
                rows.append((table, key, try LocalRowState(of: k, table, entries)))
            }
        }
    }

    /// Removes the edits of the nested rows. Call this method before the page is written.
    func revertEdits(_ edits: inout EditRebase) throws {
        for (table, _, row) in rows {
            switch row.state {
            case .absent, .deleted: break
            case .clean where !row.mayHaveUncapturedEdits: break
            case .created, .updated, .clean: try edits.revert(row.key, of: table, row)
            }
        }
    }

    /// Records the values of preexisting nested rows. Call this method before the page is written.
    func insertPreexisting(in presumed: inout PreexistingRows) throws {
        for (table, _, row) in rows { try presumed.insert(row, of: table) }
    }

    /// Records the nested rows as known, after the page is written. Deletes nested rows again if they were deleted
    /// locally.
    func record() throws {
        for (table, own, row) in rows {
            // A surrogate key exists once the row is stored.
            guard let key = try table.key.engineKey(of: own, in: db), try table.isStored(key, in: db) else { continue }
            if row.state == .deleted {
                try remove(key, table)
                continue
            }
            try EngineLedger(db).insertNested(key, table)
        }
    }

    /// Deletes a row again. Clears optional references first, so that foreign key actions do not delete the rows that
    /// have them.
    private func remove(_ key: DatabaseValue, _ table: TrackedTable) throws {
        for other in engine.tables {
            for column in other.columns where column.destination == table.entity.table && column.isOptional {
                let name = column.sql
                try db.run("UPDATE \(other.sql) SET \(name) = NULL WHERE \(name) = ?", key)
            }
        }
        try table.table.deleteRow(key, in: db)
        try DanglingLinks(layout: engine.stack.layout, db: db).deletePendingReferences(of: key, in: table.entity.table)
    }
}

// Known rows that the service has returned only inside other records.
//
// Such a row may be absent from listings. It does not count as missing if the record of a linked stored row may
// contain it. The engine does not read unchanged records again. When a record no longer contains the row, the merge
// removes the link.
extension SQLiteEngineStore {
    /// A relationship through which records may contain nested rows.
    struct NestingWay {
        let names: LinkTable
        let outer: TableLayout
        /// The numbers of the synced entities of the outer table, as SQL.
        let outerNumbers: String
        let inner: TrackedTable
    }

    /// Returns the keys of the known rows that the current listing lacks, except new rows and rows that stay because a
    /// record may contain them.
    func missingKeys(of table: TrackedTable, in db: Database) throws -> [DatabaseValue] {
        let ledger = EngineLedger(db)
        return try ledger.missingKeys(of: table, ledger.isNestedOnlyRowUnlisted(of: table) ? nestingWays(in: db) : nil)
    }

    private func nestingWays(in db: Database) throws -> [NestingWay] {
        let numbers = try EngineLedger(db).entitiesWithNestedOnlyRows()
        let tables = Dictionary(grouping: tables, by: \.entity.table)
        return model.compiled.links.flatMap { link in
            [CompiledAssociation.End.first, .second].flatMap { end -> [NestingWay] in
                // A record contains rows through its own relationships only.
                guard link.side(end).relationship != nil else { return [] }
                let names = LinkTable(link, end, stack.layout)
                let outer = link.side(end).table
                let outerNumbers = (tables[outer] ?? []).map { "\($0.number)" }.joined(separator: ", ")
                return (tables[link.side(end.other).table] ?? []).filter { numbers.contains($0.number) }.map {
                    NestingWay(names: names, outer: stack.layout[outer], outerNumbers: outerNumbers, inner: $0)
                }
            }
        }
    }
}

import Foundation
import GRDB
import SyncCore
import SyncStore

/// Builds the requests for the changes in the outbox, and stores the exact values that are sent.
///
/// New and changed rows come first, referenced rows before referencing rows. Deletions follow, referencing rows first.
struct OutgoingRequestBuilder {
    let engine: SQLiteEngineStore
    let db: Database
    private let bodies: OutgoingRecordBuilder
    let order: [TrackedTable]
    /// The edit counter up to which edits are sent. Without it, a program that writes continuously would keep a push
    /// running.
    private let lastEdit: Int64
    /// The objects that determine the fields to send, by the number of the entity.
    let edits: [Int: DirtyFields]
    /// The numbers of the entities with rows in `sync_tombstone`: the service deleted or lacks these rows, and they may
    /// still be stored.
    private let tablesWithTombstones: Set<Int>
    private let scan: OutboxScan
    /// The values and entries of the rows that are examined next.
    private var entries: RowEntries
    private var requests: [EngineLedger.NewRequest] = []
    private var preparedRows: Set<TrackedRow> = []
    private var nextID: Int64
    /// The time of the requests, in milliseconds since 1970.
    private let now: Int64
    /// The changes that were blocked because they cannot be sent.
    private(set) var blocked: [BlockedChange] = []

    private typealias Change = PendingChange
    var ledger: EngineLedger { EngineLedger(db) }

    /// - Parameters:
    ///   - order: The tables, referenced tables before referencing tables.
    ///   - lastEdit: The edit counter up to which edits are sent.
    init(_ engine: SQLiteEngineStore, _ order: [TrackedTable], upTo lastEdit: Int64, _ db: Database) throws {
        (self.engine, self.lastEdit, self.order, self.db) = (engine, lastEdit, order, db)
        bodies = try OutgoingRecordBuilder(engine, db)
        edits = try Dictionary(
            order.map { table in
                (table.number, try DirtyFields(table, engine, db))
            }
        ) { first, _ in first }
        tablesWithTombstones = try Set(order.filter(EngineLedger(db).hasTombstones).map(\.number))
        scan = engine.memory.outboxScan
        entries = RowEntries(db)
        (nextID, now) = try EngineLedger(db).nextRequest()
    }

    mutating func prepareRequests(_ limit: Int) throws -> [OutgoingRequest] {
        let isAnyPassedBy = !scan.isEmpty
        try prepareNext(limit)
        // A row may have stopped waiting for a reason that ``OutboxScan`` does not track, so examine all rows once
        // more.
        if requests.isEmpty, isAnyPassedBy {
            scan.clear()
            try prepareNext(limit)
        }
        if requests.isEmpty {
            for table in order.reversed() where requests.isEmpty {
                try forEachChange(of: table, .deletions, 1) { _ = try $0.prepareDeletion($1, table, breaksCycle: true) }
            }
        }
        if requests.isEmpty { try blockCycles() }
        try ledger.insertRequests(requests)
        return requests.map(\.request)
    }

    private mutating func prepareNext(_ limit: Int) throws {
        for table in order { try prepareRequests(.rows, table, limit) }
        if requests.isEmpty, !scan.hasNoCycle {
            // Build a request for one row in a cycle of new rows, without its reference. The reference is sent when both
            // rows exist.
            for table in order where requests.isEmpty {
                try forEachChange(of: table, .newRows, 1) { _ = try $0.prepareRequest($1, table, breaksCycle: true) }
            }
            scan.hasNoCycle = requests.isEmpty
        }
        if requests.isEmpty {
            for table in order.reversed() { try prepareRequests(.deletions, table, limit) }
        }
    }

    /// Examines the rows that are marked to be examined again, then continues after the last examined row.
    private mutating func prepareRequests(_ pass: EngineLedger.Selection, _ table: TrackedTable, _ limit: Int) throws {
        func prepare(_ builder: inout OutgoingRequestBuilder, at change: Change) throws {
            if pass == .rows { builder.scan.hasNoCycle = false }
            let pending =
                try pass == .rows
                ? builder.prepareRequest(change, table, breaksCycle: false)
                : builder.prepareDeletion(change, table, breaksCycle: false)
            builder.scan.add(TrackedRow(table, change.key), dependingOn: pending)
        }
        while requests.count < limit {
            let keys = scan.takeRequeued(pass, table.number, Self.rowsReadTogether)
            if keys.isEmpty { break }
            let changes = try ledger.changesToSend(
                of: keys, table, pass, repeatsCreates: engine.registration.mayRepeatCreates, upTo: lastEdit)
            let rest = try forEach(of: changes[...], table, pass, limit, prepare)
            scan.requeue(rest.map(\.key), pass, table.number)
        }
        try forEachChange(of: table, pass, limit, after: scan.lastKey(pass, table.number)) { builder, change in
            try prepare(&builder, at: change)
            builder.scan.advance(pass, table.number, to: change.key)
        }
    }

    /// The number of rows whose values and entries are read together.
    private static let rowsReadTogether = 100

    private mutating func forEachChange(
        of table: TrackedTable, _ selection: EngineLedger.Selection, _ limit: Int, after key: DatabaseValue = .null,
        _ body: (inout OutgoingRequestBuilder, Change) throws -> Void
    ) throws {
        var last = key
        // Usually each row gives a request. If some do not, read more rows.
        var count = min(limit, Self.rowsReadTogether)
        while requests.count < limit {
            let changes = try ledger.changesToSend(
                of: table, selection, repeatsCreates: engine.registration.mayRepeatCreates, after: last, upTo: lastEdit,
                atMost: count)
            guard let end = changes.last else { return }
            guard !end.key.isExactly(last) else {
                throw SyncError(
                    .databaseError, "a changed row has a key that is not valid UTF-8, so it cannot be sent",
                    entity: table.entity.name, suggestion: "Delete the row, or give it another key.")
            }
            _ = try forEach(of: changes[...], table, selection, limit, body)
            last = end.key
            count = Self.rowsReadTogether
        }
    }

    /// Calls `body` for changes until there are `limit` requests. Reads the values and entries of the rows together.
    /// Returns the remaining changes.
    private mutating func forEach(
        of changes: ArraySlice<Change>, _ table: TrackedTable, _ selection: EngineLedger.Selection, _ limit: Int,
        _ body: (inout OutgoingRequestBuilder, Change) throws -> Void
    ) throws -> ArraySlice<Change> {
        // Later calls may change the entries that were read together.
        defer {
            entries = RowEntries(db)
            bodies.discard()
        }
        if engine.registration.handlesRowsTogether {
            let keys = changes.map(\.key)
            entries = try RowEntries(sending: keys, table, isDeleted: selection == .deletions, db)
            if selection != .deletions { try bodies.load(keys, table) }
        }
        var rest = changes
        while requests.count < limit, let change = rest.popFirst() {
            if !preparedRows.contains(TrackedRow(table, change.key)) { try body(&self, change) }
        }
        return rest
    }

    /// Blocks the new rows of a cycle if none of them can be sent without its reference. Otherwise these rows would
    /// wait forever.
    private mutating func blockCycles() throws {
        var cycles: [(change: Change, table: TrackedTable, relationship: String)] = []
        for table in order where table.columns.contains(where: { $0.destination != nil && !$0.isOptional }) {
            try forEachChange(of: table, .newRows, 1) { builder, change in
                guard let values = try builder.entries.values(change.key, table) else { return }
                let fields = try builder.edits[table.number]?.all(of: change.key, values) ?? []
                let pending = try fields.filter { try builder.isPending($0) }
                guard let first = pending.first(where: { $0.column?.isOptional == false }),
                    try builder.isInCycle(change.key, table, pending)
                else { return }
                cycles.append((change, table, first.column?.relationship ?? first.name))
            }
        }
        for (change, table, relationship) in cycles {
            try block(
                change, table, .cycle,
                "cycle: the row and the row referenced by '\(relationship)' are both new and require each other")
        }
    }

    // MARK: Rows

    /// Builds the request of a new or changed row, unless the row must wait for other rows. Returns the rows that it
    /// waits for; empty if it does not wait.
    private mutating func prepareRequest(
        _ change: Change, _ table: TrackedTable, breaksCycle: Bool
    ) throws -> [TrackedRow] {
        guard let edits = edits[table.number] else { return [] }
        let isNew = change.kind == .create
        guard let values = try entries.values(change.key, table) else {
            if isNew {
                try ledger.deleteEntries(of: change.key, table, isKnown: true)
            } else {
                try ledger.setDeletion(of: change.key, table)
            }
            return []
        }
        let outgoing =
            try isNew
            ? edits.all(of: change.key, values)
            : edits.dirty(of: change.key, values, entries.bases(change.key, table))
        guard var fields = outgoing else { return [] }
        if fields.isEmpty, !isNew {
            try ledger.deleteEntries(of: change.key, table, isKnown: true)
            return []
        }
        let pending = try fields.filter { try isPending($0) }
        // A row is sent without its references to rows that no engine sends. They stay pending.
        let temporary = try fields.filter { try bodies.hasTemporaryReference($0) }
        if !pending.isEmpty || !temporary.isEmpty {
            let isSendable = (pending + temporary).allSatisfy { $0.column?.isOptional ?? true }
            if isNew, !pending.isEmpty && !breaksCycle || !isSendable { return try pendingRows(of: pending) }
            // The service would clear fields that a whole row omits. A row that is one field is not sent in part.
            if !isNew, engine.registration.sendsWholeRows || table.registration.mergesWholeRow {
                return try pendingRows(of: pending)
            }
            var held = Set((pending + temporary).map(\.name))
            if !isNew { for group in table.groups where !held.isDisjoint(with: group) { held.formUnion(group) } }
            fields.removeAll { held.contains($0.name) }
            if fields.isEmpty, !isNew { return try pendingRows(of: pending) }
            if isNew, !pending.isEmpty, try !isInCycle(change.key, table, pending) {
                return try pendingRows(of: pending)
            }
        }
        try send(change, table, fields)
        return []
    }

    // MARK: Waiting

    /// Returns whether a field references a row that the service does not have.
    private func isPending(_ field: OutgoingField) throws -> Bool { try !pendingRows(of: [field]).isEmpty }

    func hasTombstone(_ key: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        guard tablesWithTombstones.contains(table.number) else { return false }
        return try ledger.hasTombstone(bodies.remoteID(of: key, table), of: table)
    }

    // MARK: Requests

    private mutating func send(_ change: Change, _ table: TrackedTable, _ fields: [OutgoingField]) throws {
        let isNew = change.kind == .create
        let remoteID =
            try isNew
            ? newID(change, table) : bodies.remoteID(of: change.key, table, entries.known(change.key, table))
        if isNew, engine.registration.clientAssignsIDs, remoteID == nil {
            return try block(
                change, table, .unsendable,
                "the row has a temporary key, and the service requires the client to create the ID")
        }
        if isNew, remoteID == .null {
            let names = engine.model.compiled.keyNames(of: table.entity).joined(separator: ", ")
            return try block(change, table, .unsendable, "the composite key is incomplete: no value for \(names)")
        }
        do {
            let (body, natural) = try bodies.body(of: change.key, table, fields, newID: remoteID, isNew: isNew)
            try insert(change, table, remoteID, body, natural, fields)
        } catch let error as OutgoingRecordBuilder.Unsendable {
            try block(change, table, .unsendable, error.reason)
        }
    }

    /// Returns the ID that the client assigns to a new row; nil if the service assigns it, or if the client cannot
    /// create one.
    private func newID(_ change: Change, _ table: TrackedTable) throws -> JSONValue? {
        guard engine.registration.clientAssignsIDs || table.key.hasParts else { return nil }
        let key = table.key.hasParts ? nil : try table.key.recordKey(change.key, in: db)
        guard let key, RowKey(key, table.key.type).isLocal else { return try table.json(change.key, in: db) }
        guard table.key.type == .single(.string), let creationID = change.creationID else { return nil }
        return .string(CreationID(creationID).text(of: engine.registration.idLength))
    }

    private mutating func insert(
        _ change: Change, _ table: TrackedTable, _ remoteID: JSONValue?, _ body: JSONValue, _ natural: JSONValue?,
        _ fields: [OutgoingField]
    ) throws {
        let version = try entries.known(change.key, table)?.version
        let open = try entries.mayHaveRequest(change.key, table) ? ledger.takeRequest(of: change.key, table) : nil
        let isRestoration =
            try change.creationID.map {
                try $0 == CreationID(reviving: table.json(change.key, in: db), of: table).text
            } ?? false || change.kind == .create && LocalEditTimes(of: change.key, table, db).isRestored
        let creationID = change.creationID ?? UUID().uuidString.lowercased()
        // All devices that create the row again must use the same key, so the key of a restoration has no attempt
        // number.
        let idem =
            open?.key ?? (change.rejections == 0 || isRestoration ? creationID : "\(creationID)-\(change.rejections)")
        let id = nextID
        nextID += 1
        preparedRows.insert(TrackedRow(table, change.key))
        let operation = PushOperation(
            entity: table.entity.name, kind: change.kind, id: remoteID, record: body, fieldPaths: [], version: version,
            idempotencyKey: idem)
        let request = OutgoingRequest(
            id: id, operation, edit: change.edit, preparedAt: now, attempts: open?.attempts ?? 0, naturalKey: natural,
            isRestoration: isRestoration)
        requests.append(
            EngineLedger.NewRequest(
                request: request, key: change.key, table: table.number,
                sent: fields.map { SentField(name: $0.name, value: $0.value) }))
    }

    // MARK: Deletions

    /// Builds the request of a deletion, unless the deletion of a referencing row must be sent first. Returns the
    /// referencing row; empty if there is none.
    private mutating func prepareDeletion(
        _ change: Change, _ table: TrackedTable, breaksCycle: Bool
    ) throws -> [TrackedRow] {
        guard let known = try entries.known(change.key, table) else {
            try ledger.deleteEntries(of: change.key, table, isKnown: true)
            return []
        }
        if !breaksCycle, let row = try referencingRow(to: change, table) { return [row] }
        let remoteID = try bodies.remoteID(of: change.key, table, known)
        try insert(change, table, remoteID, .object([]), nil, [])
        return []
    }

    /// Returns a row of the same table that referenced this row and whose deletion is pending. That deletion is sent
    /// first.
    private func referencingRow(to change: Change, _ table: TrackedTable) throws -> TrackedRow? {
        for column in table.columns where column.destination == table.entity.table {
            if let key = try ledger.deletedRow(of: table, referencing: change.key, in: column) {
                return TrackedRow(table, key)
            }
        }
        return nil
    }

    private mutating func block(
        _ change: Change, _ table: TrackedTable, _ reason: PendingChange.BlockReason, _ message: String
    ) throws {
        try ledger.block(change.key, table, reason, message)
        blocked.append(
            BlockedChange(entity: table.entity.name, key: try table.recordKey(change.key, in: db), reason: message))
    }
}

// Cycles of new rows that wait for each other. One row of a cycle may be sent without its reference.
extension OutgoingRequestBuilder {
    /// Returns the rows that fields reference and that the service does not have: new rows, and rows that the service
    /// deleted or lacks. The result includes new rows of entities that another engine syncs. That engine sends them.
    func pendingRows(of fields: [OutgoingField]) throws -> [TrackedRow] {
        let tables = engine.tables + engine.otherTables
        return try fields.flatMap { field in
            let destination = field.column?.destination ?? field.joinTable?.destination
            return try (field.joinTable == nil ? [field.value] : field.others).compactMap { key -> TrackedRow? in
                guard !key.isNull, let table = try engine.table(destination, holding: key, among: tables, in: db),
                    try hasTombstone(key, table) || ledger.change(of: key, table)?.creationID != nil
                else { return nil }
                return TrackedRow(table, key)
            }
        }
    }

    /// Returns whether every row that a new row waits for also waits for the new row, directly or through other rows.
    /// Returns false if one of these rows cannot be sent. Only a row in such a cycle is sent without its reference.
    func isInCycle(_ key: DatabaseValue, _ table: TrackedTable, _ pending: [OutgoingField]) throws -> Bool {
        let own = TrackedRow(table, key)
        var pendingByTarget: [TrackedRow: [TrackedRow]] = [:]
        var rest = [own]
        while let row = rest.popLast() {
            guard pendingByTarget[row] == nil else { continue }
            guard let table = order.first(where: { $0.number == row.table }), let edits = edits[row.table],
                try isSendable(row, table), let values = try table.fieldReader.values(of: row.key, in: db)
            else { return false }
            let next = try pendingRows(of: edits.all(of: row.key, values))
            pendingByTarget[row] = next
            rest += next
        }
        return try pendingRows(of: pending).allSatisfy { reaches(own, from: $0, pendingByTarget) }
    }

    private func reaches(
        _ row: TrackedRow, from first: TrackedRow, _ pendingByTarget: [TrackedRow: [TrackedRow]]
    ) -> Bool {
        var (seen, rest): (Set<TrackedRow>, [TrackedRow]) = ([], [first])
        while let next = rest.popLast() {
            if next == row { return true }
            if seen.insert(next).inserted { rest += pendingByTarget[next] ?? [] }
        }
        return false
    }

    /// Returns whether a new row will be sent: its create is neither blocked nor in conflict.
    private func isSendable(_ row: TrackedRow, _ table: TrackedTable) throws -> Bool {
        guard let change = try ledger.change(of: row.key, table) else { return false }
        return change.kind == .create && change.state == .ready
    }
}

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
    private var preparedRows: Set<RowName> = []
    private var nextID: Int64
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
                (table.number, try DirtyFields(table, sendsWholeRows: engine.registration.sendsWholeRows, db))
            }
        ) { first, _ in first }
        tablesWithTombstones = try Set(order.filter(EngineLedger(db).hasTombstones).map(\.number))
        scan = engine.memory.outboxScan
        entries = RowEntries(db)
        nextID = try EngineLedger(db).nextRequestID()
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
            builder.scan.add(RowName(table: table.number, key: change.key), dependingOn: pending)
        }
        while requests.count < limit {
            let keys = scan.takeRequeued(pass, table.number, Self.rowsReadTogether)
            if keys.isEmpty { break }
            let changes = try ledger.changesToSend(of: keys, table, pass, upTo: lastEdit)
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
            let changes = try ledger.changesToSend(of: table, selection, after: last, upTo: lastEdit, atMost: count)
            // A key with a NUL is read without its end, so the query would return the row again.
            guard let end = changes.last, !end.key.isExactly(last) else { return }
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
            let isPrepared = preparedRows.contains(RowName(table: table.number, key: change.key))
            if !isPrepared { try body(&self, change) }
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
    ) throws -> [RowName] {
        guard let edits = edits[table.number] else { return [] }
        let isNew = change.kind == .create
        guard let values = try entries.values(change.key, table) else {
            if isNew { try drop(change, table) } else { try ledger.setDeletion(of: change.key, table) }
            return []
        }
        let outgoing =
            try isNew
            ? edits.all(of: change.key, values)
            : edits.dirty(of: change.key, values, entries.bases(change.key, table))
        guard var fields = outgoing else { return [] }
        if fields.isEmpty, !isNew {
            try drop(change, table)
            return []
        }
        let pending = try fields.filter { try isPending($0) }
        if !pending.isEmpty {
            let isSendable = pending.allSatisfy { $0.column?.isOptional ?? true }
            if isNew, !breaksCycle || !isSendable { return try pendingRows(of: pending) }
            // The service would clear fields that a whole row omits. A row that is one field is not sent in part.
            if !isNew, engine.registration.sendsWholeRows || table.registration.mergesWholeRow {
                return try pendingRows(of: pending)
            }
            var held = Set(pending.map(\.name))
            if !isNew { for group in table.groups where !held.isDisjoint(with: group) { held.formUnion(group) } }
            fields.removeAll { held.contains($0.name) }
            if fields.isEmpty, !isNew { return try pendingRows(of: pending) }
            if isNew, try !isInCycle(change.key, table, pending) { return try pendingRows(of: pending) }
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
        let creationID = change.creationID ?? UUID().uuidString.lowercased()
        let own = try table.json(change.key, in: db)
        let open = try entries.mayHaveRequest(change.key, table) ? ledger.takeRequest(of: change.key, table) : nil
        let isRestoration =
            try creationID == CreationID(reviving: own.text, of: table.entity.name).text
            || change.kind == .create && LocalEditTimes(of: change.key, table, db).isRestored
        // All devices that create the row again must use the same key, so the key of a restoration has no attempt
        // number.
        let idem =
            open?.key ?? (change.rejections == 0 || isRestoration ? creationID : "\(creationID)-\(change.rejections)")
        let now = SQLiteEngineStore.now
        let id = nextID
        nextID += 1
        preparedRows.insert(RowName(table: table.number, key: change.key))
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
    ) throws -> [RowName] {
        guard let known = try entries.known(change.key, table) else {
            try drop(change, table)
            return []
        }
        if !breaksCycle, let row = try referencingRow(to: change, table) { return [row] }
        let remoteID = try bodies.remoteID(of: change.key, table, known)
        try insert(change, table, remoteID, .object([]), nil, [])
        return []
    }

    /// Returns a row of the same table that referenced this row and whose deletion is pending. That deletion is sent
    /// first.
    private func referencingRow(to change: Change, _ table: TrackedTable) throws -> RowName? {
        for column in table.columns where column.destination == table.entity.table {
            if let key = try ledger.deletedRow(of: table, referencing: change.key, in: column) {
                return RowName(table: table.number, key: key)
            }
        }
        return nil
    }

    // MARK: Changes without a request

    private func drop(_ change: Change, _ table: TrackedTable) throws {
        try ledger.deleteEntries(of: change.key, table, isKnown: true)
    }

    private mutating func block(
        _ change: Change, _ table: TrackedTable, _ reason: PendingChange.BlockReason, _ message: String
    ) throws {
        try ledger.block(change.key, table, reason, message)
        blocked.append(
            BlockedChange(entity: table.entity.name, key: try table.recordKey(change.key, in: db), reason: message))
    }
}

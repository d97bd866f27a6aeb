import Foundation
import Sync
import SyncCore
import SyncSQLite

/// The actions of scenario steps on a store: syncs, other writes, fetches and exports.
struct ScenarioActions: Sendable {
    var stack: any ScenarioStore
    let file: ScenarioFile
    /// Whether writes run with background priority.
    let writesInBackground: Bool
    /// The members that the insert hook adds to each record of a new row; nil for no hook.
    let addedOnInsert: JSONValue?
    /// The size in bytes of the chunks in which payloads are synced; nil to sync them as a whole.
    let chunkSize: Int?
    /// Whether syncs except paged imports run in a transaction of the app.
    let usesAppDatabase: Bool

    // MARK: Writing

    func sync(_ call: ScenarioStep.SyncCall) async throws -> SyncResult {
        let payload = try payload(of: call)
        let predicate = try call.predicate.map { try RowPredicate(parsing: $0) }
        let options = options(call)
        if call.isPaged { return try await sync(pages: payload, call, predicate, options) }
        if usesAppDatabase, let stack = stack as? DataStack {
            return try await sync(payload, inTransactionOf: stack, call, predicate, options)
        }
        if let chunkSize { return try await sync(payload, inChunksOf: chunkSize, call, predicate, options) }
        return try await write { stack in
            if !call.entities.isEmpty {
                return try await call.isDryRun
                    ? Sync.plan(
                        payload.data, inEntities: call.entities, stack: stack, operations: call.operations,
                        options: options)
                    : Sync.changes(
                        payload.data, inEntities: call.entities, stack: stack, operations: call.operations,
                        options: options)
            }
            return try await call.isDryRun
                ? Sync.plan(
                    payload, inEntity: call.entity, stack: stack, predicate: predicate, parent: call.parent,
                    operations: call.operations, options: options)
                : Sync.changes(
                    payload, inEntity: call.entity, stack: stack, predicate: predicate, parent: call.parent,
                    operations: call.operations, options: options)
        }
    }

    private func sync(
        _ payload: Payload, inTransactionOf stack: DataStack, _ call: ScenarioStep.SyncCall,
        _ predicate: RowPredicate?, _ options: SyncOptions
    ) async throws -> SyncResult {
        try await write { _ in
            try await stack.write { db in
                if !call.entities.isEmpty {
                    return try call.isDryRun
                        ? Sync.plan(
                            payload.data, inEntities: call.entities, stack: stack, operations: call.operations,
                            options: options, in: db)
                        : Sync.changes(
                            payload.data, inEntities: call.entities, stack: stack, operations: call.operations,
                            options: options, in: db)
                }
                return try call.isDryRun
                    ? Sync.plan(
                        payload, inEntity: call.entity, stack: stack, predicate: predicate, parent: call.parent,
                        operations: call.operations, options: options, in: db)
                    : Sync.changes(
                        payload, inEntity: call.entity, stack: stack, predicate: predicate, parent: call.parent,
                        operations: call.operations, options: options, in: db)
            }
        }
    }

    private func sync(
        _ payload: Payload, inChunksOf size: Int, _ call: ScenarioStep.SyncCall, _ predicate: RowPredicate?,
        _ options: SyncOptions
    ) async throws -> SyncResult {
        let bytes = payload.data
        var options = options
        options.chunkSize = size
        let chunks = AsyncStream<Data> { stream in
            for start in stride(from: 0, to: bytes.count, by: 10) {
                stream.yield(bytes.dropFirst(start).prefix(10))
            }
            stream.finish()
        }
        if options.resultDetail == .automatic { options.resultDetail = .keys }
        return try await write { [options] stack in
            if !call.entities.isEmpty {
                return try await call.isDryRun
                    ? Sync.plan(
                        .buffers(chunks), inEntities: call.entities, stack: stack, operations: call.operations,
                        options: options)
                    : Sync.changes(
                        .buffers(chunks), inEntities: call.entities, stack: stack, operations: call.operations,
                        options: options)
            }
            return try await call.isDryRun
                ? Sync.plan(
                    .buffers(chunks), inEntity: call.entity, stack: stack, predicate: predicate, parent: call.parent,
                    operations: call.operations, options: options)
                : Sync.changes(
                    .buffers(chunks), inEntity: call.entity, stack: stack, predicate: predicate, parent: call.parent,
                    operations: call.operations, options: options)
        }
    }

    /// Syncs each element of the payload as a page of one paged import.
    private func sync(
        pages payload: Payload, _ call: ScenarioStep.SyncCall, _ predicate: RowPredicate?, _ options: SyncOptions
    ) async throws -> SyncResult {
        guard case .value(.array(let pages)) = payload else {
            throw ScenarioError("the payload of a sync with 'pages' must be an array")
        }
        let run = PagedImport()
        var options = options
        options.payloadKind = .page(of: run)
        return try await write { [options] stack in
            for page in pages {
                if !call.entities.isEmpty {
                    try await Sync.changes(
                        page, inEntities: call.entities, stack: stack, operations: call.operations, options: options)
                    continue
                }
                try await Sync.changes(
                    page, inEntity: call.entity, stack: stack, predicate: predicate, parent: call.parent,
                    operations: call.operations, options: options)
            }
            return try await run.finish()
        }
    }

    /// Returns the options of the step, with the insert hook of the case.
    private func options(_ call: ScenarioStep.SyncCall) -> SyncOptions {
        var options = call.options
        guard case .object(let added)? = addedOnInsert else { return options }
        options.willInsert = { insertion in
            guard case .object(let members) = insertion.record else { return insertion.record }
            return .object(members + added)
        }
        return options
    }

    func insert(_ entity: String, _ values: JSONValue) async throws {
        let type = try stack.model.compiled.entity(named: entity)
        guard case .object(let members) = values else { throw ScenarioError("the values must be an object") }
        var attributes: [String: JSONValue] = [:]
        var links: [String: [SyncRow]] = [:]
        for member in members {
            if type.relationship(named: member.key) != nil {
                links[member.key] = try await targets(member.value, of: member.key)
            } else {
                attributes[member.key] = member.value
            }
        }
        try await write { [attributes, links] stack in
            try await stack.insertRow(entity, values: attributes, relationships: links)
        }
    }

    func fill(_ entity: String, _ values: JSONValue, _ predicate: String?) async throws {
        let predicate = try predicate.map { try RowPredicate(parsing: $0) }
        try await write { stack in try await stack.fillRow(of: entity, with: values, where: predicate) }
    }

    func insertOrUpdate(_ entity: String, _ values: JSONValue) async throws {
        try await write { stack in try await Sync.insertOrUpdate(values, inEntity: entity, stack: stack) }
    }

    /// Updates a row and returns its key in the notation of scenarios. Returns null if there is no row.
    func update(_ entity: String, _ id: JSONValue, _ values: JSONValue) async throws -> JSONValue {
        let row = try await write { stack in
            try await Sync.update(id: id, with: values, inEntity: entity, stack: stack)?.row
        }
        guard let row else { return .null }
        if let key = try stack.model.primaryKey(of: row.entity) { return ValueMatcher.json(row[key.local] ?? .null) }
        return ScenarioKey(row.key, stack.model.compiled.keyType(of: row.type.id)).json
    }

    func delete(_ entity: String, _ id: JSONValue) async throws {
        try await write { stack in try await Sync.delete(id: id, inEntity: entity, stack: stack) }
    }

    func drop() async throws {
        try await write { stack in try await Sync.deleteAllRows(stack: stack) }
    }

    /// Runs a write in a detached task, which the cancellation of the runner does not cancel.
    @discardableResult
    private func write<T: Sendable>(
        _ body: @escaping @Sendable (any ScenarioStore) async throws -> T
    ) async throws -> T {
        let stack = stack
        return try await Task.detached(priority: writesInBackground ? .background : nil) {
            try await body(stack)
        }.value
    }

    // MARK: Reading

    func count(_ entity: String, _ predicate: String?) async throws -> Int {
        try await stack.count(entity, where: try self.predicate(predicate))
    }

    func rows(_ entity: String, _ predicate: String?) async throws -> [StoredRowView] {
        try await stack.fetch(entity, where: try self.predicate(predicate)).map(StoredRowView.init)
    }

    func row(_ entity: String, id: JSONValue) async throws -> StoredRowView? {
        try await stack.fetch(entity, id: id).map(StoredRowView.init)
    }

    func export(_ call: ScenarioStep.ExportCall) async throws -> [JSONValue] {
        var options = ExportOptions(keyCase: call.keyCase, relationships: call.relationships)
        if let pattern = call.dateFormat { options.dateFormat = .pattern(pattern) }
        if let name = call.timeZone {
            guard let zone = TimeZone(identifier: name) else { throw ScenarioError("unknown time zone '\(name)'") }
            options.timeZone = zone
        }
        return try await stack.export(call.entity, where: try predicate(call.predicate), options: options)
    }

    // MARK: Arguments

    private func predicate(_ text: String?) throws -> RowPredicate {
        try text.map { try RowPredicate(parsing: $0) } ?? .all
    }

    enum Payload: Sendable, SyncPayloadConvertible {
        case bytes(Data)
        case value(JSONValue)

        func syncPayload() -> SyncPayload {
            switch self {
            case .bytes(let json): json.syncPayload()
            case .value(let json): json.syncPayload()
            }
        }

        var data: Data {
            switch self {
            case .bytes(let json): json
            case .value(let json): Data(json.scenarioText.utf8)
            }
        }
    }

    /// Returns the payload of a step. It is the bytes of a fixture, or a parsed value if the payload is in the scenario
    /// file or the step has a `key`.
    func payload(of call: ScenarioStep.SyncCall) throws -> Payload {
        switch call.payload {
        case .inline(let records):
            return .value(try records.value(at: call.key))
        case .fixture(let path):
            let data: Data
            do {
                data = try FileContents.read(file.url(of: path).path)
            } catch {
                throw ScenarioError("cannot read the payload \(path): \(error)")
            }
            guard call.key != nil else { return .bytes(data) }
            return .value(try JSONValue(parsing: data).value(at: call.key))
        }
    }

    /// Returns the stored rows that the value of a relationship identifies, in order.
    private func targets(_ value: JSONValue, of relationship: String) async throws -> [SyncRow] {
        switch value {
        case .null: return []
        case .array(let references):
            var records: [SyncRow] = []
            for reference in references { records.append(try await target(reference, of: relationship)) }
            return records
        default: return [try await target(value, of: relationship)]
        }
    }

    private func target(_ reference: JSONValue, of relationship: String) async throws -> SyncRow {
        var fields = try ScenarioFields(reference, of: "a target of \(relationship)")
        let entity = try fields.string("entity")
        let id = fields.optional("id")
        let predicate = try fields.optionalString("where")
        try fields.finish()
        let found: [SyncRow]
        switch (id, predicate) {
        case (let id?, nil): found = try await stack.fetch(entity, id: id).map { [$0] } ?? []
        case (nil, let text?): found = try await stack.fetch(entity, where: try self.predicate(text))
        default: throw ScenarioError("a target of \(relationship) needs either 'id' or 'where'")
        }
        guard found.count == 1, let record = found.first else {
            throw ScenarioError("a target of \(relationship) must be one row, not \(found.count)")
        }
        return record
    }
}

extension ScenarioActions: RowSource {
    func targets(of row: StoredRowView, along relationship: String) async throws -> [StoredRowView] {
        guard let record = row.record else { return [] }
        return try await stack.fetchRelated(relationship, of: record).map(StoredRowView.init)
    }
}

extension StoredRowView {
    fileprivate init(_ record: SyncRow) {
        entity = record.entity
        values = Dictionary(record.attributes.map { ($0, record[$0] ?? .null) }) { first, _ in first }
        self.record = record
    }
}

extension JSONValue {
    /// Returns the value at a dotted key path.
    fileprivate func value(at path: String?) throws -> JSONValue {
        guard let path else { return self }
        var value = self
        for key in path.split(separator: ".") {
            guard let next = value[String(key)] else {
                throw SyncError(.keyPathNotFound, "the payload has no value at '\(path)'", path: path)
            }
            value = next
        }
        return value
    }
}

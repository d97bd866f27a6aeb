import SyncCore

/// One step of a case: an action on the store, or an expectation.
struct ScenarioStep: Sendable {
    enum Action: Sendable {
        case sync(SyncCall)
        /// The keys of `values` are the names of attributes and relationships.
        case insert(entity: String, values: JSONValue)
        /// The keys of `values` are remote keys. The step fills a new row, or the one row that matches `predicate`.
        case fill(entity: String, values: JSONValue, predicate: String?)
        case insertOrUpdate(entity: String, values: JSONValue)
        case update(entity: String, id: JSONValue, values: JSONValue, returns: JSONValue?)
        case delete(entity: String, id: JSONValue)
        case fetch(entity: String, id: JSONValue, expected: JSONValue)
        case expectCount(Int, entity: String, predicate: String?)
        case expect(JSONValue, entity: String, predicate: String?)
        case export(ExportCall, expected: JSONValue, isOrdered: Bool)
        case reopen(model: String)
        case drop
    }

    /// The arguments of a `sync` step.
    struct SyncCall: Sendable {
        enum Payload: Sendable {
            case fixture(path: String)
            case inline(JSONValue)
        }

        var payload: Payload
        var entity: String
        var operations: SyncOperations
        var predicate: String?
        var parent: SyncParent?
        /// The path of the records inside the payload, with dots between keys; nil if the payload is the records.
        var key: String?
        var options = SyncOptions(deletionLimit: nil)
        /// The entities of a payload with several lists, by the key paths of the lists.
        var entities: [String: String] = [:]
        /// Whether the payload is an array of payloads, the pages of one paged import.
        var isPaged = false
        /// Whether the step plans and writes nothing.
        var isDryRun = false
        var changes: Changes?
        /// The expected members of the result. Members that it omits are not compared.
        var result: JSONValue?

        /// Whether the payload is one list of records, or one record.
        var isPlain: Bool { entities.isEmpty && options.keyedBy == nil && options.format == .json }

        /// Whether the payload is a list inside the scenario file.
        var isList: Bool {
            guard !isPaged, key == nil, isPlain, case .inline(.array) = payload else { return false }
            return true
        }
    }

    /// The expected counts of a `sync` step for the rows of its entity. Nil counts are not compared.
    struct Changes: Sendable, Hashable {
        var inserted: Int?
        var updated: Int?
        var deleted: Int?
    }

    /// The arguments of an `export` step.
    struct ExportCall: Sendable {
        var entity: String
        var predicate: String?
        var keyCase: KeyCase?
        var relationships = ExportOptions.Relationships.array
        var dateFormat: String?
        var timeZone: String?
    }

    var action: Action
    /// Whether the step must write no rows.
    var mustNotWrite: Bool
    /// A description of the `SyncError` that the step must throw; nil if the step must succeed.
    var expectedError: String?

    /// The kind of the step, which is the name of its main field.
    var kind: Kind {
        switch action {
        case .sync: .sync
        case .insert: .insert
        case .fill: .fill
        case .insertOrUpdate: .insertOrUpdate
        case .update: .update
        case .delete: .delete
        case .fetch: .fetch
        case .expectCount: .expectCount
        case .expect: .expect
        case .export: .export
        case .reopen: .reopen
        case .drop: .drop
        }
    }

    enum Kind: String, Sendable, CaseIterable {
        case sync, insert, fill, insertOrUpdate, update, delete, fetch, expectCount, expect, export, reopen, drop
    }
}

// MARK: Decoding

extension ScenarioStep {
    init(_ value: JSONValue) throws(ScenarioError) {
        var fields = try ScenarioFields(value, of: "the step")
        let kinds = Kind.allCases.filter { fields.has($0.rawValue) }
        guard let kind = kinds.first else {
            throw ScenarioError("unknown step with the fields \(fields.names.joined(separator: ", "))")
        }
        guard kinds.count == 1 else {
            throw ScenarioError("the step is both '\(kind.rawValue)' and '\(kinds[1].rawValue)'")
        }
        mustNotWrite = try fields.flag("noWrites")
        expectedError = try fields.optionalString("expectError")
        action = try Self.action(kind, &fields)
        try fields.finish()
    }

    private static func action(_ kind: Kind, _ fields: inout ScenarioFields) throws(ScenarioError) -> Action {
        switch kind {
        case .sync:
            return .sync(try SyncCall(&fields))
        case .insert:
            let row = try RowFields(kind, &fields)
            return .insert(entity: row.entity, values: row.values)
        case .fill:
            let row = try RowFields(kind, &fields)
            return .fill(entity: row.entity, values: row.values, predicate: row.predicate)
        case .insertOrUpdate:
            let row = try RowFields(kind, &fields)
            return .insertOrUpdate(entity: row.entity, values: row.values)
        case .update:
            let row = try RowFields(kind, &fields)
            return .update(entity: row.entity, id: row.id, values: row.values, returns: fields.optional("returns"))
        case .delete:
            let row = try RowFields(kind, &fields)
            return .delete(entity: row.entity, id: row.id)
        case .fetch:
            let row = try RowFields(kind, &fields)
            return .fetch(entity: row.entity, id: row.id, expected: try expected(&fields, or: .null))
        case .expectCount:
            return .expectCount(
                try fields.integer("expectCount"), entity: try fields.string("entity"),
                predicate: try fields.optionalString("where"))
        case .expect:
            return .expect(
                try fields.object("expect"), entity: try fields.string("entity"),
                predicate: try fields.optionalString("where"))
        case .export:
            var call = try ScenarioFields(try fields.value("export"), of: "the export")
            let besideIs = try fields.flag("ordered")
            let inside = try call.flag("ordered")
            return .export(
                try ExportCall(&call), expected: try expected(&fields, or: .null), isOrdered: besideIs || inside)
        case .reopen:
            var store = try ScenarioFields(try fields.value("reopen"), of: "the reopen")
            let model = try store.string("model")
            try store.finish()
            return .reopen(model: model)
        case .drop:
            guard try fields.flag("drop") else { throw ScenarioError("the field 'drop' of the step must be true") }
            return .drop
        }
    }

    /// Reads the field `is`. Only a step that expects an error may omit it.
    private static func expected(
        _ fields: inout ScenarioFields, or missing: JSONValue
    ) throws(ScenarioError) -> JSONValue {
        if fields.has("expectError"), !fields.has("is") { return missing }
        return try fields.value("is")
    }
}

/// The object of a step that acts on one row.
private struct RowFields {
    var entity: String
    var id = JSONValue.null
    var values = JSONValue.object([])
    var predicate: String?

    init(_ kind: ScenarioStep.Kind, _ step: inout ScenarioFields) throws(ScenarioError) {
        var fields = try ScenarioFields(try step.value(kind.rawValue), of: "the \(kind.rawValue)")
        entity = try fields.string("entity")
        switch kind {
        case .delete, .fetch: id = try fields.value("id")
        case .update:
            id = try fields.value("id")
            values = try fields.object("values")
        case .fill:
            values = try fields.object("values")
            // The predicate may be inside the object or next to it.
            let beside = try step.optionalString("where")
            predicate = try fields.optionalString("where") ?? beside
        default: values = try fields.object("values")
        }
        try fields.finish()
    }
}

extension ScenarioStep.SyncCall {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        switch try fields.value("sync") {
        case .string(let path): payload = .fixture(path: path)
        case let records: payload = .inline(records)
        }
        entities = try fields.texts("entities")
        entity = entities.isEmpty ? try fields.string("entity") : entities.values.sorted()[0]
        operations = try Self.operations(&fields)
        predicate = try fields.optionalString("where")
        key = try fields.optionalString("key")
        if let value = fields.optional("options") { options = try SyncOptions(scenario: value) }
        isDryRun = try fields.flag("dryRun")
        isPaged = try fields.flag("pages")
        if fields.has("result") {
            result = try fields.object("result")
            guard result != .object([]) else { throw ScenarioError("the field 'result' of the step must not be empty") }
        }
        if let value = fields.optional("parent") {
            var owner = try ScenarioFields(value, of: "the parent")
            parent = SyncParent(
                try owner.string("entity"), id: try owner.value("id"),
                relationship: try owner.optionalString("relationship"))
            try owner.finish()
        }
        if let value = fields.optional("changes") {
            var numbers = try ScenarioFields(value, of: "the 'changes' object")
            let changes = ScenarioStep.Changes(
                inserted: try numbers.optionalInteger("inserted"), updated: try numbers.optionalInteger("updated"),
                deleted: try numbers.optionalInteger("deleted"))
            try numbers.finish()
            guard changes != ScenarioStep.Changes() else {
                throw ScenarioError("the field 'changes' of the step must not be empty")
            }
            self.changes = changes
        }
        try checkCombinations()
    }

    /// Rejects fields that the library cannot apply together, because the step would ignore one of them.
    private func checkCombinations() throws(ScenarioError) {
        if !entities.isEmpty, predicate != nil || parent != nil {
            throw ScenarioError("'where' and 'parent' of the step cannot be used with 'entities'")
        }
        guard isPaged else { return }
        if isDryRun { throw ScenarioError("'dryRun' of the step cannot be used with 'pages'") }
        if case .delta = options.payloadKind {
            throw ScenarioError(
                "the payload 'delta' cannot be used with 'pages', because the pages are one snapshot")
        }
    }

    private static func operations(_ fields: inout ScenarioFields) throws(ScenarioError) -> SyncOperations {
        guard let names = try fields.optionalStrings("operations") else { return .all }
        var operations: SyncOperations = []
        for name in names {
            guard let known = SyncOperations.names.first(where: { $0.name == name }) else {
                throw ScenarioError("unknown operation '\(name)'")
            }
            operations.insert(known.operation)
        }
        return operations
    }
}

extension ScenarioStep.ExportCall {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        entity = try fields.string("entity")
        predicate = try fields.optionalString("where")
        if let value = fields.optional("options") {
            var options = try ScenarioFields(value, of: "the 'options' object of the export")
            keyCase = try options.keyCase("case")
            if let name = try options.optionalString("relationships") {
                guard let relationships = ExportOptions.Relationships(rawValue: name) else {
                    throw ScenarioError("unknown relationships option '\(name)'")
                }
                self.relationships = relationships
            }
            dateFormat = try options.optionalString("dateFormat")
            timeZone = try options.optionalString("timeZone")
            try options.finish()
        }
        try fields.finish()
    }
}

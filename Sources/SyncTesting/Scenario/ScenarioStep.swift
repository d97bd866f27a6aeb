import SyncCore

/// One step of a case: something to do to the store or to expect of it.
struct ScenarioStep: Sendable {
    enum Action: Sendable {
        case sync(SyncCall)
        /// Values by local name.
        case insert(entity: String, values: JSONValue)
        /// Remote-keyed values for a new row, or for the one row that matches.
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
        var parent: (entity: String, id: JSONValue)?
        var relationship: String?
        /// The dotted path of the records inside the payload.
        var key: String?
        var options = SyncOptions()
        /// The entities of a payload of several, by the paths of their lists.
        var entities: [String: String] = [:]
        /// Whether the payload is an array of payloads, the pages of one run.
        var isPaged = false
        /// Whether the call only plans.
        var isDryRun = false
        var changes: Changes?
        /// What the result is expected to have; what it does not name is not compared.
        var result: JSONValue?

        /// Whether the payload is one list of records, or one record.
        var isPlain: Bool { entities.isEmpty && options.keyedBy == nil && options.form == .json }

        /// Whether the payload is a list that the file has.
        var isList: Bool {
            guard !isPaged, key == nil, isPlain, case .inline(.array) = payload else { return false }
            return true
        }
    }

    /// What a `sync` step is expected to report about the rows of its entity; nil is not compared.
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
    /// Whether the step must leave `total_changes()` where it was.
    var mustNotWrite: Bool
    /// A hint at the typed error the step must fail with; nil if it must succeed.
    var expectedError: String?

    /// The field that names the kind of step.
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

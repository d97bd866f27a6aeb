import Foundation
import Sync
import SyncTesting

@testable import SyncService

/// A change that a device sends, as the members of a history receive it.
struct HistoryChange: Sendable {
    let entity: String
    let kind: PushOperation.Kind
    /// Nil for a row without an ID.
    let id: JSONValue?
    let body: JSONValue
}

/// A row, as a device identifies it.
struct HistoryRow: Hashable, Sendable {
    let entity: String
    let key: String
}

/// The random faults that the members of a history add to changes and answers, with a record of them.
actor HistoryTroubles {
    private struct Target: Hashable {
        let entity: String
        let kind: PushOperation.Kind
        let id: JSONValue?
        let name: JSONValue?
    }

    /// The limit of changes in one run; a run with more is endless.
    private static let mostChanges = 100

    let members: Set<HistoryMember>
    private var random = SeededNumbers(state: 0)
    /// Whether faults still occur.
    private(set) var isActive = false
    private var refused: [Target: Int] = [:]
    private var edit: (@Sendable (HistoryChange) async -> Void)?
    private var pause: (@Sendable () async -> Void)?
    private var known: Set<HistoryRow> = []
    private var changes = 0
    /// The values of rejected changes.
    private(set) var refusedValues: Set<String> = []
    /// The rows whose deletion was rejected, as entity and ID.
    private(set) var refusedDeletions: Set<String> = []
    /// The problems found.
    private(set) var problems: [String] = []

    init(_ members: Set<HistoryMember>) { self.members = members }

    /// Begins another step.
    func begin(_ seed: UInt64) {
        random = SeededNumbers(state: seed &* 0x9FB2_1C65_1E98_DF25 &+ 3)
        isActive = true
    }

    /// Ends all faults.
    func end() {
        isActive = false
        edit = nil
        refused = [:]
    }

    /// Begins a run.
    ///
    /// - Parameters:
    ///   - known: The rows that the device knows.
    ///   - edit: Edits or deletes the row of a change.
    ///   - pause: Called while a change takes long.
    func beginRun(
        knowing known: Set<HistoryRow>, _ edit: @escaping @Sendable (HistoryChange) async -> Void,
        pause: @escaping @Sendable () async -> Void
    ) {
        (self.known, self.edit, self.pause, changes) = (known, edit, pause, 0)
    }

    /// Ends the run.
    func endRun() { (known, edit, pause) = ([], nil, nil) }

    private func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

    private func happens(_ member: HistoryMember, oneOf bound: Int) -> Bool {
        isActive && members.contains(member) && number(bound) == 0
    }

    // MARK: Changes

    /// Rejects the next deletions of a row.
    func refuseDeletion(of id: JSONValue, _ entity: String) {
        refused[Target(entity: entity, kind: .delete, id: id, name: JSONValue?.none)] = 1 + number(2)
    }

    /// Returns the reason to reject a change now, and perhaps for more requests; nil to accept it.
    func refusal(of change: HistoryChange) async -> String? {
        let target = Target(
            entity: change.entity, kind: change.kind, id: change.id,
            name: change.id == JSONValue?.none ? change.body["title"] ?? change.body["name"] : JSONValue?.none)
        if refused[target] == nil {
            guard happens(.refusals, oneOf: 4) else { return nil }
            refused[target] = [1, 1, 2, 5][number(4)]
        }
        guard let left = refused[target], left > 0 else { return nil }
        refused[target] = left - 1
        refusedValues.formUnion(change.body.scalars)
        if change.kind == .delete, let id = change.id { refusedDeletions.insert("\(change.entity) \(id.plain)") }
        if number(2) == 0 { await edit?(change) }
        return "refused"
    }

    /// Counts a change before it is carried out, and edits its row or pauses if the members of the history require it.
    ///
    /// - Throws: ``ServiceError`` if the run has too many changes.
    func meet(_ change: HistoryChange) async throws {
        changes += 1
        guard changes <= Self.mostChanges else {
            if changes == Self.mostChanges + 1 { problems.append("a run sends changes without end") }
            throw ServiceError.rejected(status: 400, "too many")
        }
        if isActive, members.contains(.writers), change.kind == .update { await edit?(change) }
        if happens(.slow, oneOf: 6) { await pause?() }
    }

    /// Returns whether the answer to a change that was carried out is lost.
    func isLost(_ change: HistoryChange) async -> Bool {
        guard happens(.lost, oneOf: 3) else { return false }
        if number(3) > 0 { await edit?(change) }
        return true
    }

    /// Returns the ID of the wrong row for an answer; nil to answer with the right row.
    ///
    /// The wrong answer to a create has a row that the device knows, since a device cannot tell an unknown row from its
    /// own.
    func wrongID(for id: JSONValue?, of entity: String, _ kind: PushOperation.Kind, among ids: some Sequence<JSONValue>)
        -> JSONValue?
    {
        guard happens(.wrong, oneOf: 4) else { return nil }
        let others = ids.filter {
            $0 != id && (kind != .create || known.contains(HistoryRow(entity: entity, key: $0.plain)))
        }
        return one(of: others.sorted { $0.plain < $1.plain })
    }

    var isBodiless: Bool { happens(.bodiless, oneOf: 3) }
    var hasGhost: Bool { happens(.ghosts, oneOf: 8) }
    var isShifted: Bool { happens(.shifts, oneOf: 2) }
    var isLate: Bool { happens(.late, oneOf: 3) }

    /// The number of requests during which a created row is missing from lists.
    var lag: Int { isActive ? [0, 2, 10, 1_000][number(4)] : 0 }

    /// Returns a random element.
    func one<T: Sendable>(of elements: [T]) -> T? { elements.isEmpty ? nil : elements[number(elements.count)] }
}

extension JSONValue {
    /// Whether it is an ID that several devices of a history give to different rows.
    var isTwin: Bool { plain.hasPrefix("twin") }

    /// The strings and numbers in it.
    var scalars: Set<String> {
        switch self {
        case .string(let text), .number(let text): [text]
        case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.scalars) }
        case .object(let members): members.reduce(into: []) { $0.formUnion($1.value.scalars) }
        case .bool, .null: []
        }
    }

    /// A string or number as a database stores it.
    var plain: String {
        switch self {
        case .string(let text), .number(let text): text
        case .bool(let flag): flag ? "1" : "0"
        case .null, .array, .object: "\(self)"
        }
    }
}

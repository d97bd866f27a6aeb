import Foundation
import Sync
import SyncTesting

@testable import SyncService

/// A change that a device sends, as a member of a history sees it.
struct HistoryChange: Sendable {
    let entity: String
    let kind: PushOperation.Kind
    /// Nil for a row that has none yet.
    let id: JSONValue?
    let body: JSONValue
}

/// A row, as a device names it.
struct HistoryRow: Hashable, Sendable {
    let entity: String
    let key: String
}

/// What the members of a history do to the changes and answers of a service, at random, and what they did.
actor HistoryTroubles {
    private struct Target: Hashable {
        let entity: String
        let kind: PushOperation.Kind
        let id: JSONValue?
        let name: JSONValue?
    }

    /// A run that sends more than so many changes has no end.
    private static let mostChanges = 100

    let members: Set<HistoryMember>
    private var random = SeededNumbers(state: 0)
    /// Whether anything goes wrong still.
    private(set) var isActive = false
    private var refused: [Target: Int] = [:]
    private var edit: (@Sendable (HistoryChange) async -> Void)?
    private var pause: (@Sendable () async -> Void)?
    private var known: Set<HistoryRow> = []
    private var changes = 0
    /// The values of changes that were refused.
    private(set) var refusedValues: Set<String> = []
    /// The rows whose deletion was refused, as entity and id.
    private(set) var refusedDeletions: Set<String> = []
    /// What went wrong.
    private(set) var problems: [String] = []

    init(_ members: Set<HistoryMember>) { self.members = members }

    /// Another step begins.
    func begin(_ seed: UInt64) {
        random = SeededNumbers(state: seed &* 0x9FB2_1C65_1E98_DF25 &+ 3)
        isActive = true
    }

    /// From now on everything is as it should be.
    func end() {
        isActive = false
        edit = nil
        refused = [:]
    }

    /// A run begins.
    ///
    /// - Parameters:
    ///   - known: The rows that the device knows.
    ///   - edit: Edits the row of a change, or deletes it.
    ///   - pause: What happens while a change takes long.
    func beginRun(
        knowing known: Set<HistoryRow>, _ edit: @escaping @Sendable (HistoryChange) async -> Void,
        pause: @escaping @Sendable () async -> Void
    ) {
        (self.known, self.edit, self.pause, changes) = (known, edit, pause, 0)
    }

    /// The run is over.
    func endRun() { (known, edit, pause) = ([], nil, nil) }

    private func number(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

    private func happens(_ member: HistoryMember, oneOf bound: Int) -> Bool {
        isActive && members.contains(member) && number(bound) == 0
    }

    // MARK: Changes

    /// The next deletions of a row are refused.
    func refuseDeletion(of id: JSONValue, _ entity: String) {
        refused[Target(entity: entity, kind: .delete, id: id, name: JSONValue?.none)] = 1 + number(2)
    }

    /// Why a change is refused, now and perhaps for some time; nil if it is not.
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

    /// Before a change is carried out.
    ///
    /// - Throws: ``ServiceError`` once there are too many.
    func meet(_ change: HistoryChange) async throws {
        changes += 1
        guard changes <= Self.mostChanges else {
            if changes == Self.mostChanges + 1 { problems.append("a run sends changes without end") }
            throw ServiceError.refused(status: 400, "too many")
        }
        if isActive, members.contains(.writers), change.kind == .update { await edit?(change) }
        if happens(.slow, oneOf: 6) { await pause?() }
    }

    /// After it was carried out: whether its answer is lost.
    func isLost(_ change: HistoryChange) async -> Bool {
        guard happens(.lost, oneOf: 3) else { return false }
        if number(3) > 0 { await edit?(change) }
        return true
    }

    /// The id of the wrong row that an answer has; nil for an answer with the right one.
    ///
    /// The answer to a creation has a row that the device knows: it cannot tell a row that it does not know from its own.
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

    /// For how many requests a row that was made is on no list.
    var lag: Int { isActive ? [0, 2, 10, 1_000][number(4)] : 0 }

    /// One of some.
    func one<T: Sendable>(of elements: [T]) -> T? { elements.isEmpty ? nil : elements[number(elements.count)] }
}

extension JSONValue {
    /// Whether it is an id that several devices of a history give to rows of their own.
    var isTwin: Bool { plain.hasPrefix("twin") }

    /// The texts and numbers in it.
    var scalars: Set<String> {
        switch self {
        case .string(let text), .number(let text): [text]
        case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.scalars) }
        case .object(let members): members.reduce(into: []) { $0.formUnion($1.value.scalars) }
        case .bool, .null: []
        }
    }

    /// A text or number as it is written in a database.
    var plain: String {
        switch self {
        case .string(let text), .number(let text): text
        case .bool(let flag): flag ? "1" : "0"
        case .null, .array, .object: "\(self)"
        }
    }
}

public import Foundation
public import SyncCore

/// A row as a service has it.
public struct RemoteRow: Sendable, Hashable {
    /// What the service calls it.
    public var id: JSONValue
    /// Its members; nil for a row that was deleted.
    public var record: JSONValue?
    /// The service's word for this state of it.
    public var version: String?
    /// When it was last changed, by the clock of the service.
    public var time: Date?
    /// Whether the record has all there is of the row.
    public var isWhole: Bool

    /// A row as a service has it.
    public init(id: JSONValue, record: JSONValue?, version: String? = nil, time: Date? = nil, isWhole: Bool = true) {
        self.id = id
        self.record = record
        self.version = version
        self.time = time
        self.isWhole = isWhole
    }

    /// Why an answer that has this row in place of another one is not believed.
    var otherRowReason: String { "the answer has another row than was asked for: \(id)" }
}

/// What a service says of a row that it was asked for by its id.
public enum FetchedRow: Sendable, Hashable {
    /// It has it.
    case found(RemoteRow)
    /// It has none.
    case absent
    /// It does not say: the user may not know.
    case forbidden

    /// Why a change is refused of which that is so.
    static let forbiddenReason = "the user may not see the row"
}

extension JSONValue {
    /// Whether two ids are one, as far as that shows without a model: a number may be written as a text.
    func isSpelling(of other: JSONValue) -> Bool {
        switch (self, other) {
        case (.array(let parts), .array(let others)):
            parts.count == others.count && zip(parts, others).allSatisfy { $0.isSpelling(of: $1) }
        case (.string(let text), .number(let other)), (.number(let text), .string(let other)): text == other
        case (.string(let text), .string(let other)): text.lowercased() == other.lowercased()
        default: self == other
        }
    }
}

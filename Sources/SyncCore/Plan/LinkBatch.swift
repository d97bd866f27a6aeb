/// What a payload says about one link: which pairs there are, and which ends were spoken for as a whole.
///
/// Every statement has its place in document order. A pair holds if neither of its ends was spoken for later:
/// that one rule covers every kind of relationship and both of its sides.
package struct LinkBatch: Sendable {
    /// A pair that the payload says is linked.
    package struct Assertion: Sendable {
        package var first: NodeID
        package var second: NodeID
        package var sequence: UInt32
        /// The record that says it, or of a child listed as an object the child's own, where mentions are tracked;
        /// else -1.
        package var mention: Int32
        /// The position, below 2^28, and in its lowest bits the rest: there may be millions of these.
        private var positionAndFlags: Int32
        /// The entity that the statement says a row is of, and in the lowest bit at which end; -1 if it says none.
        private var kindAndEnd: Int16
        private static let flagBits: Int32 = 3

        /// Its position in the list that gave it; -1 if no list did.
        package var position: Int32 { positionAndFlags >> Self.flagBits }
        /// The end whose record or list says it.
        package var saidBy: Link.End { positionAndFlags & 1 == 0 ? .first : .second }
        /// Whether `mention` is a listed child's: one that may be neither inserted nor updated only keeps a stored link.
        package var isListed: Bool { positionAndFlags & 2 != 0 }
        /// Whether it refers by id to a row that may arrive later.
        package var isByID: Bool { positionAndFlags & 4 != 0 }

        /// The entity that the row at an end was said to be of; nil if nothing was said.
        @inline(__always)
        package func kind(at end: Link.End) -> Int? {
            guard kindAndEnd >= 0, kindAndEnd & 1 == (end == .first ? 0 : 1) else { return nil }
            return Int(kindAndEnd >> 1)
        }

        init(
            first: NodeID, second: NodeID, sequence: UInt32, position: Int32, mention: Int32, saidBy: Link.End,
            isListed: Bool, isByID: Bool, kind: (entity: Int, end: Link.End)? = nil
        ) {
            self.first = first
            self.second = second
            self.sequence = sequence
            self.mention = mention
            positionAndFlags =
                position << Self.flagBits | (saidBy == .first ? 0 : 1) | (isListed ? 2 : 0) | (isByID ? 4 : 0)
            kindAndEnd = kind.map { Int16(truncatingIfNeeded: $0.entity << 1 | ($0.end == .first ? 0 : 1)) } ?? -1
        }

        mutating func move(by places: Int32) { positionAndFlags += places << Self.flagBits }
    }

    /// The links of a row at one end are what the payload says here, and no others.
    package struct Replacement: Sendable {
        package enum Kind: UInt8, Sendable {
            /// Unlisted rows stay.
            case unlink
            /// Unlisted rows that nothing else mentions are deleted.
            case delete
        }
        package var node: NodeID
        package var end: Link.End
        package var kind: Kind
        package var sequence: UInt32
        package var mention: Int32
    }

    package internal(set) var assertions: [Assertion] = []
    package internal(set) var replacements: [Replacement] = []
    /// Makes room for `factor` times what is here.
    mutating func reserve(_ factor: Double) {
        assertions.reserve(Int(Double(assertions.count) * factor))
        replacements.reserve(Int(Double(replacements.count) * factor))
    }

    package var isEmpty: Bool { assertions.isEmpty && replacements.isEmpty }
}

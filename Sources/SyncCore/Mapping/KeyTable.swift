/// Which attributes and relationships the JSON keys of one object fill, each key resolved once by its bytes.
///
/// A table belongs to an entity, or to an object that dotted remote keys walk into.
package struct KeyTable {
    /// What a key fills.
    package enum Target {
        /// A lower strength wins; equal ones go by document order.
        case attribute(slot: Int, strength: Int)
        /// Under its own name or its remote key, where objects, ids and null may stand.
        case relationship(Int, strength: Int)
        /// Under a key that is for ids only.
        case ids(Int, strength: Int)
        /// It names the kind of the record, or (`relationship`, else -1) that of the row a relationship leads to.
        case kind(relationship: Int)
        /// The values are in an object: the table of its keys.
        case nested(table: Int)
        /// Nothing, and nothing is missed.
        case ignored
    }

    /// A key that was seen.
    package struct Entry {
        let key: KeyText
        /// The one attribute it fills; -1 if it fills something else, nothing, or several things: then see `targets`.
        package let slot: Int
        let strength: UInt8
        /// The entry that came after this one last time.
        var follower: Int32 = -1
    }

    /// What kind of object it is of.
    enum Role {
        case object
        /// A GraphQL connection, and one of its edges.
        case connection, edge
    }

    let entity: Int
    var role = Role.object
    /// The dotted path from the record to the object, empty for the record itself.
    package let path: [String]
    /// The attributes that dotted remote keys fill from this object; null in its place clears them.
    package let slots: [Int]
    /// Whether an attribute takes the object whole, so that nothing of it is lost.
    let isKept: Bool
    package private(set) var entries: [Entry] = []
    package private(set) var names: [[UInt8]] = []
    package private(set) var targets: [[Target]] = []
    /// By entry: how often a key that fills nothing was seen.
    private(set) var unmapped: [Int] = []
    private var byHash: [Int: [Int32]] = [:]
    /// What the first key of an object was last time.
    private var first: Int32 = -1

    init(entity: Int, path: [String], slots: [Int] = [], isKept: Bool = false) {
        self.isKept = isKept
        self.entity = entity
        self.path = path
        self.slots = slots
    }

    /// The entry of the key at a place of `text` if it is the one that came there last time.
    @inline(__always)
    func follower(of previous: Int, _ text: UnsafeBufferPointer<UInt8>, at offset: Int, length: Int) -> Int? {
        let key = KeyText(text, at: offset, length: length)
        let guess = Int(previous < 0 ? first : entries[previous].follower)
        if guess >= 0, entries[guess].key == key,
            key.isWhole || isName(guess, .init(rebasing: text[offset..<offset + length]))
        {
            return guess
        }
        return nil
    }

    /// The entry of a key; nil if it is new.
    mutating func entry(_ name: UnsafeBufferPointer<UInt8>, after previous: Int) -> Int? {
        guard let found = byHash[Self.hash(name)]?.first(where: { isName(Int($0), name) }) else { return nil }
        learn(found, after: previous)
        return Int(found)
    }

    /// Of the whole name, and another in every process: names that are alike, or made to be, do not meet in one place.
    private static func hash(_ name: UnsafeBufferPointer<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name))
        return hasher.finalize()
    }

    private func isName(_ entry: Int, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        names[entry].withUnsafeBufferPointer { TextPool.equal($0, name) }
    }

    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ targets: [Target], after previous: Int) -> Int {
        let key = KeyText(name, at: 0, length: name.count)
        if case .attribute(let slot, let strength) = targets.first, targets.count == 1 {
            entries.append(Entry(key: key, slot: slot, strength: UInt8(truncatingIfNeeded: strength)))
        } else {
            entries.append(Entry(key: key, slot: -1, strength: 0))
        }
        names.append(Array(name))
        self.targets.append(targets)
        unmapped.append(0)
        let entry = Int32(truncatingIfNeeded: entries.count - 1)
        byHash[Self.hash(name), default: []].append(entry)
        learn(entry, after: previous)
        return entries.count - 1
    }

    private mutating func learn(_ entry: Int32, after previous: Int) {
        if previous < 0 { first = entry } else { entries[previous].follower = entry }
    }

    mutating func countUnmapped(_ entry: Int) { unmapped[entry] += 1 }
}

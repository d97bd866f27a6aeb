import SyncCore

/// Whether lists had their rows in the order of their keys, in which lists without an order are read.
struct ObservedOrder {
    private var isOfNumbers = true
    private var isOfTexts = true

    /// - Parameter ids: Of one list, as texts.
    mutating func observe(_ ids: some Sequence<String>) {
        var previous: String?
        for id in ids {
            guard isOfNumbers || isOfTexts else { return }
            if let previous, previous != id { compare(previous, id) }
            previous = id
        }
    }

    private mutating func compare(_ one: String, _ next: String) {
        isOfTexts = isOfTexts && one.utf8.lexicographicallyPrecedes(next.utf8)
        guard isOfNumbers else { return }
        if let first = Int64(one), let second = Int64(next) {
            isOfNumbers = first < second
        } else {
            isOfNumbers = Double(one).flatMap { first in Double(next).map { first < $0 } } ?? false
        }
    }

    mutating func merge(_ other: ObservedOrder) {
        isOfNumbers = isOfNumbers && other.isOfNumbers
        isOfTexts = isOfTexts && other.isOfTexts
    }

    /// Whether all lists were in the order of keys of a type.
    func isOfKeys(_ type: AttributeType?) -> Bool {
        switch type {
        case .integer, .double, .decimal: isOfNumbers
        default: isOfTexts
        }
    }
}

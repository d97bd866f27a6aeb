import SyncCore

/// Which of the records that a store knows are to be read nevertheless.
enum ToRead {
    case some(Set<RecordHash>)
    case all

    static let none = ToRead.some([])

    func contains(_ hash: RecordHash) -> Bool {
        switch self {
        case .some(let hashes): hashes.contains(hash)
        case .all: true
        }
    }

    mutating func formUnion(_ other: ToRead) {
        switch (self, other) {
        case (.some(let one), .some(let more)): self = .some(one.union(more))
        default: self = .all
        }
    }
}

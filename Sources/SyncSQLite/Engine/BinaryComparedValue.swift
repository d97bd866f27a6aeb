import GRDB

/// A database value whose text is compared byte for byte, as SQLite compares it.
///
/// Swift and GRDB treat the two Unicode encodings of `é` as equal (canonical equivalence). A service and a database do
/// not.
struct BinaryComparedValue: Hashable {
    let value: DatabaseValue

    init(_ value: DatabaseValue) { self.value = value }

    static func == (left: BinaryComparedValue, right: BinaryComparedValue) -> Bool {
        guard case .string(let own) = left.value.storage, case .string(let other) = right.value.storage else {
            return left.value == right.value
        }
        return own.utf8.elementsEqual(other.utf8)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension DatabaseValue {
    var exact: BinaryComparedValue { BinaryComparedValue(self) }

    func isExactly(_ other: DatabaseValue) -> Bool { exact == other.exact }
}

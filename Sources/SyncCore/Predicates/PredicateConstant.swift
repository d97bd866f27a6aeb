package import Foundation

/// A value in the form in which conditions compare it: a constant of the condition, or what an attribute holds.
///
/// Only values of the same case compare.
package enum PredicateConstant: Sendable {
    case integer(Int64)
    /// Of a decimal attribute, or for the order of an integer one, whatever its size.
    case exact(ExactNumber)
    case double(Double)
    case boolean(Bool)
    /// Milliseconds since 1970.
    case instant(Int64)
    /// Of a string or URL; a UUID in upper case; JSON in its canonical form.
    case text(String)
    case bytes(Data)
}

extension PredicateConstant: Hashable {
    /// Texts are the same if their bytes are.
    package static func == (left: PredicateConstant, right: PredicateConstant) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left == right
        case (.exact(let left), .exact(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.boolean(let left), .boolean(let right)): left == right
        case (.instant(let left), .instant(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.bytes(let left), .bytes(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let value), .instant(let value): hasher.combine(value)
        case .exact(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .boolean(let value): hasher.combine(value)
        case .text(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .bytes(let value): hasher.combine(value)
        }
    }
}

extension PredicateConstant {
    /// Whether it comes before another; false where they do not compare. Texts are ordered by their bytes.
    func isBefore(_ other: PredicateConstant) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.exact(let left), .exact(let right)): left < right
        case (.double(let left), .double(let right)): left < right
        case (.boolean(let left), .boolean(let right)): !left && right
        case (.instant(let left), .instant(let right)): left < right
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        default: false
        }
    }

    /// The value without case, if it is a text.
    var folded: PredicateConstant {
        if case .text(let text) = self { .text(CaseFolding.fold(text)) } else { self }
    }
}

extension StoredValue {
    /// The value as conditions compare it; nil for no value.
    var constant: PredicateConstant? {
        switch self {
        case .null: nil
        case .integer(let value): .integer(value)
        case .double(let value): .double(value)
        case .decimal(let value): ExactNumber("\(value)").map(PredicateConstant.exact)
        case .boolean(let value): .boolean(value)
        case .string(let text), .url(let text): .text(text)
        case .date(let value): value.milliseconds.map(PredicateConstant.instant)
        case .uuid(let value): .text(value.uuidString)
        case .binary(let value): .bytes(value)
        case .json(let value): .text(String(decoding: CanonicalJSON.bytes(value), as: UTF8.self))
        }
    }
}

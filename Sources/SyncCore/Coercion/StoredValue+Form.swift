import Foundation

extension StoredValue {
    /// The value as reading it from a store of this type gives it (dates to the millisecond, JSON in its canonical
    /// form); nil if a store cannot have it.
    func inStoredForm(of type: AttributeType) -> StoredValue? {
        switch (self, type) {
        case (.null, _): return .null
        case (.integer, .integer), (.boolean, .boolean), (.string, .string), (.uuid, .uuid), (.binary, .binary):
            return self
        case (.double(let value), .double): return value.isFinite ? .double(value == 0 ? 0 : value) : nil
        case (.decimal(let value), .decimal): return Coercion.storedValue(.string("\(value)"), as: .decimal)
        case (.date(let value), .date): return value.milliseconds.map { .date(Date(milliseconds: $0)) }
        case (.url(let text), .url): return Coercion.storedValue(.string(text), as: .url)
        case (.json(let value), .json): return Coercion.storedValue(value, as: .json)
        default: return nil
        }
    }
}

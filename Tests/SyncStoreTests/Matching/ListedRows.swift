import SyncCore

@testable import SyncStore

/// The rows of an array as a result. Each row has the values of its columns; nil for null.
final class ListedRows: StoredRowReader {
    private let rows: [[RowKey?]]
    private var next = 0
    /// The texts that were read, whose bytes are valid until the reader is released.
    private var texts: [UnsafeMutableBufferPointer<UInt8>] = []

    init(_ rows: [[RowKey?]]) { self.rows = rows }

    deinit { texts.forEach { $0.deallocate() } }

    func step() -> Bool {
        next += 1
        return next <= rows.count
    }

    func key(_ column: Int) -> RowKey? { rows[next - 1][column] }

    func isNull(_ column: Int) -> Bool { key(column) == nil }

    func integer(_ column: Int) -> Int64 {
        switch key(column) {
        case .integer(let value): value
        case .real(let value): Int64(value)
        case .text(let text): Int64(text) ?? 0
        case nil: 0
        }
    }

    func real(_ column: Int) -> Double {
        if case .real(let value) = key(column) { value } else { Double(integer(column)) }
    }

    func string(_ column: Int) -> String {
        switch key(column) {
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let text): text
        case nil: ""
        }
    }

    func text(_ column: Int) -> UnsafeBufferPointer<UInt8> {
        let bytes = Array(string(column).utf8)
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        texts.append(copy)
        return UnsafeBufferPointer(copy)
    }

    func hasKey(_ column: Int, of type: AttributeType) -> Bool {
        switch (type, key(column)) {
        case (.integer, .integer), (.boolean, .integer), (.double, .integer), (.double, .real): true
        case (.integer, _), (.boolean, _), (.double, _): false
        case (_, .text): true
        default: false
        }
    }

    func column(_ column: Int, equals value: PackedValue, _ pool: TextPool) -> Bool {
        value.kind == .absent || key(column) == RowKey(value, pool)
    }
}

/// The values that are bound to the parameters of a statement.
final class BoundParameters: ParameterBinder {
    private(set) var values: [Int: RowKey?] = [:]

    func bind(_ value: PackedValue, at parameter: Int, _ pool: TextPool) {
        values[parameter] = .some(RowKey(value, pool))
    }

    func bind(_ value: Int64, at parameter: Int) { values[parameter] = .integer(value) }

    func bind(_ key: RowKey, at parameter: Int) { values[parameter] = key }

    func bindNull(at parameter: Int) { values[parameter] = .some(nil) }

    func bind(copying blob: [UInt8], at parameter: Int) {
        values[parameter] = .text(String(decoding: blob, as: UTF8.self))
    }
}

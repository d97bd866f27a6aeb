public import Foundation
public import SyncCore

/// What one input asks for: a payload, and how to sync it.
///
/// An input is a payload. One that starts with `!` and two bytes says also which operations are allowed (the low bits
/// of the first byte), whether the store has rows already (its highest bit), and which options are on (the second). One
/// that starts with `~` and two such bytes has a payload of the records that the other bytes choose.
public struct FuzzCall {
    /// What the root records are.
    public var entity = "Item"
    /// What the sync may do.
    public var operations = SyncOperations.all
    /// How it treats the payload.
    public var options = SyncOptions()
    /// Whether the store has rows before.
    public var isIntoRows = false
    /// The payload where the fuzzer has it, so that the address sanitizer sees a byte read beyond its end.
    public var payload: UnsafeBufferPointer<UInt8>

    /// Calls `body` with what an input asks for.
    public static func read(_ input: UnsafeBufferPointer<UInt8>, _ body: (FuzzCall) -> Void) {
        var call = FuzzCall(input)
        guard input.first == UInt8(ascii: "~"), input.count >= 3 else { return body(call) }
        call.options.keyPath = []
        let made = PayloadWriter.payload(
            UnsafeBufferPointer(rebasing: input[3...]), of: call.entity, asLines: call.options.form == .ndjson)
        payloadBeingChecked = made
        defer { payloadBeingChecked = nil }
        made.withUnsafeBufferPointer { payload in
            call.payload = payload
            body(call)
        }
    }

    private init(_ input: UnsafeBufferPointer<UInt8>) {
        payload = input
        guard input.count >= 3, input[0] == UInt8(ascii: "!") || input[0] == UInt8(ascii: "~") else { return }
        payload = UnsafeBufferPointer(rebasing: input[3...])
        operations = SyncOperations(rawValue: Int(input[1] & 63))
        isIntoRows = input[1] & 128 != 0
        let flags = input[2]
        options.isStrict = flags & 1 != 0
        options.scope = flags & 2 != 0 ? .all : .automatic
        if flags & 4 != 0 { options.payload = .delta }
        if flags & 8 != 0 { options.form = .ndjson }
        options.revealsValues = flags & 16 != 0
        if flags & 32 != 0 { entity = "Special" }
        if flags & 64 != 0 { entity = "Group" }
        if flags & 128 != 0, options.form == .json { options.keyPath = ["data", "rows"] }
    }

    /// The payload without a copy; not to be kept.
    public var data: Data {
        guard let start = payload.baseAddress, !payload.isEmpty else { return Data() }
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: UnsafeRawPointer(start)), count: payload.count,
            deallocator: .none)
    }

    /// The payload as a value, or nil if it is none: of NDJSON all its records.
    public var value: JSONValue? {
        guard options.form == .ndjson else { return try? JSONValue(parsing: Array(payload)) }
        var reader = JSONReader(payload, form: .ndjson)
        var tape = JSONTape()
        var records: [JSONValue] = []
        do {
            while try reader.next(into: &tape) { records.append(tape.value(at: 0, in: payload)) }
            return .array(records)
        } catch {
            return nil
        }
    }
}

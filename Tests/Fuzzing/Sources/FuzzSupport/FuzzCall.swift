public import Foundation
public import SyncCore

/// The payload and the options that an input encodes.
///
/// An input is a payload. If it starts with `!` and two bytes, these bytes are flags. The low bits of the first byte
/// are the allowed operations, and its highest bit says whether the store has rows before. The second byte has the
/// options. If it starts with `~` and such bytes, the other bytes choose the records of a generated payload.
public struct FuzzCall {
    /// The entity of the root records.
    public var entity = "Item"
    /// The allowed operations of the sync.
    public var operations = SyncOperations.all
    /// The options of the sync.
    public var options = SyncOptions(deletionLimit: nil)
    /// Whether the store has rows before the sync.
    public var isIntoRows = false
    /// The payload without a copy, so that the address sanitizer detects reads beyond its end.
    public var payload: UnsafeBufferPointer<UInt8>

    /// Decodes an input, and calls `body` with the result.
    public static func read(_ input: UnsafeBufferPointer<UInt8>, _ body: (FuzzCall) -> Void) {
        var call = FuzzCall(input)
        guard input.first == UInt8(ascii: "~"), input.count >= 3 else { return body(call) }
        call.options.keyPath = []
        let made = PayloadWriter.payload(
            UnsafeBufferPointer(rebasing: input[3...]), of: call.entity, asLines: call.options.format == .ndjson)
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
        if flags & 4 != 0 { options.payloadKind = .delta }
        if flags & 8 != 0 { options.format = .ndjson }
        options.includesValuesInErrors = flags & 16 != 0
        if flags & 32 != 0 { entity = "Special" }
        if flags & 64 != 0 { entity = "Group" }
        if flags & 128 != 0, options.format == .json { options.keyPath = ["data", "rows"] }
    }

    /// The payload without a copy. It is valid during the call only.
    public var data: Data {
        guard let start = payload.baseAddress, !payload.isEmpty else { return Data() }
        return Data(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: UnsafeRawPointer(start)), count: payload.count,
            deallocator: .none)
    }

    /// The payload as a value; nil if it is invalid. The value of NDJSON is the array of its records.
    public var value: JSONValue? {
        guard options.format == .ndjson else { return try? JSONValue(parsing: Array(payload)) }
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

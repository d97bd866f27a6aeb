import FuzzSupport
import SyncCore

/// Payloads to plans: a plan made of bytes says the same as one made of the values that the bytes are.
@main
enum FuzzMapper {
    static func main() {
        fuzz { start, count in
            FuzzMapper.check(FuzzCall(UnsafeBufferPointer(start: start, count: count)))
            return 0
        }
    }

    static func check(_ call: FuzzCall) {
        let ofBytes = plan(call) { try $0.plan(call.data, options: call.options) }
        if case .refused(let error) = ofBytes { error.requirePlace(in: call.payload) }
        guard let value = call.value else {
            if case .text = ofBytes { fail("a plan was made of what is no JSON") }
            return
        }
        requireSame(ofBytes, plan(call) { try $0.plan(value) }, "as values")

        if call.options.form == .json, call.options.keyPath.isEmpty, case .array(let records) = value {
            var lines: [UInt8] = []
            for record in records {
                JSONText.append(record, to: &lines)
                lines.append(0x0A)
            }
            var other = call
            other.options.form = .ndjson
            let ofLines = lines.withUnsafeBufferPointer { buffer in
                other.payload = buffer
                return plan(other) { try $0.plan(other.data, options: other.options) }
            }
            requireSame(ofBytes, ofLines, "one record a line")
        }
    }

    // MARK: Plans

    enum Outcome {
        case text(String)
        case refused(SyncError)
    }

    static func plan(_ call: FuzzCall, _ body: (PayloadStaging) throws -> ChangePlan) -> Outcome {
        do {
            let staging = try PayloadStaging(
                inEntity: call.entity, of: FuzzModel.model, parent: nil, relationship: nil,
                operations: call.operations, options: call.options)
            return .text(try body(staging).text)
        } catch let error as SyncError {
            return .refused(error)
        } catch {
            fail("not a SyncError: \(error)")
        }
    }

    static func requireSame(_ first: Outcome, _ second: Outcome, _ name: String) {
        switch (first, second) {
        case (.text(let first), .text(let second)):
            guard first != second else { return }
            let (left, right) = (first.split(separator: "\n"), second.split(separator: "\n"))
            let line = zip(left, right).enumerated().first { $1.0 != $1.1 }?.offset ?? min(left.count, right.count)
            fail("\(name): \(left.dropFirst(line).first ?? "") <> \(right.dropFirst(line).first ?? "")")
        case (.refused(let first), .refused(let second)):
            // Records one by one: what is wrong first is told, but not with the same words for its place.
            require(first.code == second.code, "\(name): \(first) <> \(second)")
        case (.refused(let error), .text): fail("only \(name) is it a payload: \(error)")
        case (.text, .refused(let error)): fail("\(name): \(error)")
        }
    }
}

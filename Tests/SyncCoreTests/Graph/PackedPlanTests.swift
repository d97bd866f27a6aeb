import Testing

@testable import SyncCore

@Suite("Compact values of a payload graph")
struct PackedPlanTests {
    @Test("A packed value takes 12 bytes and holds every number")
    func packedValueHoldsEveryNumber() {
        #expect(MemoryLayout<PackedValue>.stride == 12)
        for value in [0, 1, -1, .min, .max, 1 << 32, -(1 << 32)] as [Int64] {
            #expect(PackedValue.integer(value).integer == value)
            #expect(PackedValue.date(value).integer == value)
        }
        for value in [0, -0.0, 1.5, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity] {
            #expect(PackedValue.real(value).real.bitPattern == value.bitPattern)
        }
    }

    @Test("A packed value holds the offset and length of a text beyond 4 GiB")
    func packedValueHoldsLargeOffsets() {
        for (offset, length) in [(0, 0), (7, 3), (1 << 32, 1), (1 << 47 + 5, Int(UInt32.max))] {
            let slot = PackedValue(kind: .payloadText, offset: offset, length: length)
            #expect(slot.offset == offset && slot.length == length && slot.isText)
        }
    }

    @Test("Link assertions keep an optional occurrence and an optional kind")
    func assertionsKeepOptionalParts() {
        var batch = LinkBatch()
        func assertion(_ number: Int, mention: Int32, kind: Int16, end: CompiledAssociation.End) -> LinkBatch.Assertion
        {
            .init(
                first: NodeID(number), second: NodeID(number + 1), sequence: UInt32(number),
                position: number.isMultiple(of: 2) ? Int32(number) : -1, occurrence: mention, assertedBy: end,
                isListed: number.isMultiple(of: 3), isByID: number.isMultiple(of: 4),
                kind: .init(entity: kind, end: end))
        }
        for number in 0..<10 { batch.assertions.append(assertion(number, mention: -1, kind: -1, end: .first)) }
        batch.assertions.append(assertion(10, mention: 7, kind: -1, end: .second))
        batch.assertions.append(assertion(11, mention: -1, kind: 3, end: .second))
        batch.assertions.append(assertion(12, mention: -1, kind: -1, end: .first))
        batch.assertions[11].position += 5
        #expect(batch.assertions.count == 13)
        for (number, assertion) in batch.assertions.enumerated() {
            #expect(assertion.first == NodeID(number) && assertion.second == NodeID(number + 1))
            #expect(assertion.sequence == UInt32(number))
            let position: Int32 = number == 11 ? 4 : number.isMultiple(of: 2) ? Int32(number) : -1
            #expect(assertion.position == position)
            #expect(assertion.occurrence == (number == 10 ? 7 : -1))
            #expect(assertion.assertedBy == (number == 10 || number == 11 ? .second : .first))
            #expect(assertion.isListed == number.isMultiple(of: 3) && assertion.isByID == number.isMultiple(of: 4))
            #expect(assertion.kind(at: .second) == (number == 11 ? 3 : nil) && assertion.kind(at: .first) == nil)
        }
    }

    @Test("A replacement takes 12 bytes and keeps its end, kind and occurrence")
    func replacementKeepsItsParts() {
        #expect(MemoryLayout<LinkBatch.Replacement>.stride == 12)
        for end in [.first, .second] as [CompiledAssociation.End] {
            for kind in [.unlink, .delete] as [LinkBatch.Replacement.Kind] {
                for mention in [-1, 0, 1 << 28] as [Int32] {
                    let replacement = LinkBatch.Replacement(
                        node: 3, end: end, kind: kind, sequence: 9, occurrence: mention)
                    #expect(replacement.end == end && replacement.kind == kind && replacement.occurrence == mention)
                    let other = replacement.with(end: end.other, kind: .unlink)
                    #expect(other.end == end.other && other.kind == .unlink && other.occurrence == mention)
                    #expect(other.node == 3 && other.sequence == 9)
                }
            }
        }
    }
}

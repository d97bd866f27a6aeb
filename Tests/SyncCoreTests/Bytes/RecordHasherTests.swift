import Testing

@testable import SyncCore

@Suite("Record hashing")
struct RecordHasherTests {
    private let hasher = RecordHasher(seed: RecordHash(low: 1, high: 2))

    private func hash(_ bytes: [UInt8], _ hasher: RecordHasher) -> RecordHash {
        bytes.withUnsafeBytes { hasher.hash($0) }
    }

    @Test("Flipping any bit changes both halves of the hash", arguments: [1, 7, 8, 15, 16, 17, 31, 32, 33, 100])
    func everyBitChangesTheHash(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        var low: Set<UInt64> = [hash(bytes, hasher).low]
        var high: Set<UInt64> = [hash(bytes, hasher).high]
        for bit in 0..<(count * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            low.insert(hash(changed, hasher).low)
            high.insert(hash(changed, hasher).high)
        }
        #expect(low.count == count * 8 + 1)
        #expect(high.count == count * 8 + 1)
    }

    @Test("Appending zeros changes the hash")
    func trailingZerosChangeTheHash() {
        let hashes = Set((0..<64).map { hash(Array(repeating: 0, count: $0), hasher) })
        #expect(hashes.count == 64)
    }

    @Test("The hash depends on the seed")
    func hashDependsOnSeed() {
        let other = RecordHasher(seed: RecordHash(low: 1, high: 3))
        #expect(hash([1, 2, 3], hasher) != hash([1, 2, 3], other))
        #expect(hash([1, 2, 3], hasher) == hash([1, 2, 3], RecordHasher(seed: RecordHash(low: 1, high: 2))))
    }

    /// Stores and servers keep hashes, so they must not change between releases.
    @Test(
        "Hashes of fixed bytes do not change between releases",
        arguments: [
            (0, 0xCD22_22D5_2EA8_2FE5, 0x5B31_5225_1D43_5F8B), (1, 0x120E_BD97_6E13_1AA5, 0x63BE_D962_A509_C3A5),
            (7, 0x9F60_6047_2F0C_2BA3, 0xDAEA_0E7E_AB7A_4B91), (8, 0xCCAD_7D30_412E_B5BE, 0xCA3C_A57B_8083_873F),
            (15, 0x9CDE_FCEF_ABF2_34A3, 0xDB9F_457A_0410_B436), (16, 0xFB01_AA26_5F0C_F2A0, 0x9FA2_AECB_BEFE_3A3A),
            (17, 0x4A63_4A47_1D17_EA7C, 0x4271_1E70_A104_46B9), (33, 0xFF29_336E_00BA_DBB5, 0x01E1_A824_36AB_6AAA),
            (100, 0xF4FD_0795_C990_C697, 0x316E_D091_6D3D_4C38),
        ] as [(Int, UInt64, UInt64)])
    func hashOfBytesIsStable(_ count: Int, _ low: UInt64, _ high: UInt64) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        #expect(hash(bytes, hasher) == RecordHash(low: low, high: high))
    }

    @Test(
        "Hashes of triggers, creation IDs and row versions do not change between releases",
        arguments: [
            (
                "CREATE TRIGGER t", 0x5379_6E63, 0x5472_6967,
                RecordHash(low: 0x6303_48B8_7070_10C1, high: 0x00B9_3F7A_3C61_C1A0)
            ),
            (
                "Task 7", 0x5379_6E63, 0x4249_5254,
                RecordHash(low: 0x1B32_72E2_0D0A_6950, high: 0xB955_4EFA_F204_7FF9)
            ),
            (
                "{\"id\":1}", 0x4368_616E, 0x6765_7300,
                RecordHash(low: 0xDA7F_4D1A_FACB_84DC, high: 0x36AF_5217_477A_8291)
            ),
        ] as [(String, UInt64, UInt64, RecordHash)])
    func hashOfStoredTextsIsStable(_ text: String, _ low: UInt64, _ high: UInt64, _ wanted: RecordHash) {
        #expect(hash(Array(text.utf8), RecordHasher(seed: RecordHash(low: low, high: high))) == wanted)
    }
}

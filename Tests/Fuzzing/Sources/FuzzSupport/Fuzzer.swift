import CLibFuzzer
import Foundation

/// Runs a fuzz target under libFuzzer, which takes the program's arguments.
public func fuzz(_ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt) -> Never {
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(LLVMFuzzerRunDriver(&count, &arguments, target))
}

/// Says what is wrong and ends the process, by which libFuzzer knows that the input is to be kept.
public func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\nNot as it should be: \(message)\n".utf8))
    abort()
}

/// Fails unless the condition holds.
public func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fail(message()) }
}

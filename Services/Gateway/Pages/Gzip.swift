import CZlib

/// Content in the format of gzip (RFC 1952), as small as zlib makes it. It has no time in it: the same content becomes the
/// same bytes.
package func gzipped(_ content: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    // The largest window; 16 more stands for gzip.
    let status = deflateInit2_(
        &stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib cannot compress: \(status)")
    defer { deflateEnd(&stream) }
    var content = content
    return content.withUnsafeMutableBufferPointer { content in
        stream.next_in = content.baseAddress
        stream.avail_in = UInt32(content.count)
        let bound = Int(deflateBound(&stream, UInt(content.count)))
        return Array(unsafeUninitializedCapacity: bound) { buffer, count in
            stream.next_out = buffer.baseAddress
            stream.avail_out = UInt32(bound)
            let end = deflate(&stream, Z_FINISH)
            precondition(end == Z_STREAM_END, "zlib needs more room than it said: \(end)")
            count = bound - Int(stream.avail_out)
        }
    }
}

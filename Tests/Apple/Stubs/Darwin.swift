// Where the client takes the C library from on Apple's platforms.
@_exported import Glibc

// swift-format-ignore: AlwaysUseLowerCamelCase
public let F_FULLFSYNC: Int32 = 51

// Made by make_node_cases.py: what the op computes, what onnx.reference computes.
func.func @neg_0() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x0719003F9B5FCB3FAD268D3FA5B18CBF36A14CBF6642BF3FDE4DFDBF0D78A43F7C19983FA45603BE"> : tensor<2x5xf32>
  %r = onnx.neg %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x071900BF9B5FCBBFAD268DBFA5B18C3F36A14C3F6642BFBFDE4DFD3F0D78A4BF7C1998BFA456033E"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @abs_1() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0xDEB149BF65E462BF78037BBFABF760BE9009953C0A205B3E37B2FD3FC8D7953F1B39FA3EFC58FA3F"> : tensor<2x5xf32>
  %r = onnx.abs %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xDEB1493F65E4623F78037B3FABF7603E9009953C0A205B3E37B2FD3FC8D7953F1B39FA3EFC58FA3F"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @exp_2() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x0FC391BFB0F8ADBF2A7BE63E6F80E9BF51BBEDBF3DF0733D8D6B0ABE0497D53FE353043FB44D673D"> : tensor<2x5xf32>
  %r = onnx.exp %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1DF3A33E9685833E99C6C83FB636253ED8D71F3ECADA873FC6A15F3F7DC3A9405CA2D63FAC6F873F"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @erf_3() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x0DE74CBCB94581BF22F6F9BF777D9DBF11A4443F134A99BF469805BF8C16FEBF04FCA83F7AEAB0BF"> : tensor<2x5xf32>
  %r = onnx.erf %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A3267BCFBC658BF2C877EBFB40B6BBFC4FF383FB1DF68BF491C0ABF98B87EBF8227703F620A73BF"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @sin_4() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x73FA6DBFE5BAC23FA269203DADBDB13F04120F3FCE92773F7D27D1BF6C86283E3EAEFE3C3220BE3F"> : tensor<2x5xf32>
  %r = onnx.sin %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x66274DBFD5AF7F3F235F203D44C37B3FFABC073F72BF523F137D7FBFEFC3273EBDA3FE3CF2107F3F"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @cos_5() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0xCB100EBFBA14C93EC5A9E1BF4C21E6BEF63535BF0519B3BF11F7A13FEDE4F6BE711EF53F914DB83E"> : tensor<2x5xf32>
  %r = onnx.cos %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0495593F70826C3FB59943BEB992663F8A7F423F40DA2E3E88F7993EEACE623FD3C4ACBEB3976F3F"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @tanh_6() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0xBC27D73EFA4E0D3F5FAF343FEACBB2BFDE7974BEDF5785BFF9AEC7BECD7CCEBF2987EF3FFEEA91BF"> : tensor<2x5xf32>
  %r = onnx.tanh %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x5053CB3E9083003F50A81B3FA27962BF3EEF6FBEC05047BFB323BEBEF5726CBF8826743F167D50BF"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @sigmoid_7() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x35E32F3FAE5E4CBF0687BF3F9F1B263FDA9CBCBF95ADB03F3FD0E33F2ECECE3FEAC88E3E4686B5BF"> : tensor<2x5xf32>
  %r = onnx.sigmoid %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xF0512A3FCBEA9E3E6E28513FFB20283F1FE13E3ECE8D4C3F450D5B3FEB8D553FBBBB113F05A1473E"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @relu_8() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x6D759DBF7416DB3F4D54563E9F8EA3BF1BA3C43F2CF8103FDFBB8E3ECE5CFDBE145DB6BEAB6185BF"> : tensor<2x5xf32>
  %r = onnx.relu %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x000000007416DB3F4D54563E000000001BA3C43F2CF8103FDFBB8E3E000000000000000000000000"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @softplus_9() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0xC183ECBFC09FC03F522D04BE201D433ED21A36BFA9AD803F6519F3BFDDE102BFED75F0BF4914C1BF"> : tensor<2x5xf32>
  %r = onnx.softplus %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xC8D9153E934ADA3FD374213FB4FE4A3FC982CC3E0198A83F46D60E3E068FF03E2A9C113E75AD4C3E"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @floor_10() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x0E2EEF3F078C213F430193BE9D7AC23DD9E0BE3F3D871FBF7BEAB83EC2173C3F690E14BF6E749C3D"> : tensor<2x5xf32>
  %r = onnx.floor %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0000803F00000000000080BF000000000000803F000080BF0000000000000000000080BF00000000"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @ceil_11() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x81CE873FF37FD13FF7A7B2BF26E9DD3F3259FDBF4486813F5FFD9E3F10FAB9BFD815A6BE4569A13F"> : tensor<2x5xf32>
  %r = onnx.ceil %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0000004000000040000080BF00000040000080BF0000004000000040000080BF0000008000000040"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @round_12() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x72B1F8BF878B033F3207963FFB0C553D1245673F39128CBF705B9ABF73280CBFE524A4BF12A21DBF"> : tensor<2x5xf32>
  %r = onnx.round %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x000000C00000803F0000803F000000000000803F000080BF000080BF000080BF000080BF000080BF"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @sign_13() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x8470E53F772F963E32C523BF73F569BFB871E73FD16A63BE4DF6F53FCB527E3D9764AD3D5C07CB3F"> : tensor<2x5xf32>
  %r = onnx.sign %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0000803F0000803F000080BF000080BF0000803F000080BF0000803F0000803F0000803F0000803F"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @round_14() -> (tensor<*xf32>, tensor<6xf32>) {
  %i0 = onnx.constant dense<"0x000020C00000C0BF000000BF0000003F0000C03F00002040"> : tensor<6xf32>
  %r = onnx.round %i0 {} : (tensor<6xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x000000C0000000C000000080000000000000004000000040"> : tensor<6xf32>
  return %r, %w0 : tensor<*xf32>, tensor<6xf32>
}
func.func @sqrt_15() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0xE870C13FC8039A3F501F693F1360E23F1FD3613F1337ED3FB4176C3E1FC06A3F61258B3F7411F43F"> : tensor<2x5xf32>
  %r = onnx.sqrt %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xC45A9D3FFA678C3F234B743F3739AA3F7F70703F5940AE3F4AD8F53E2525753FEA74853F1EC0B03F"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @log_16() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0xA0AF133F27D4D03F5B51B13FFF31BB3F93ECA53F6415F93F906A3B3F3C525B3FB297F83EC00C493E"> : tensor<2x5xf32>
  %r = onnx.log %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x9FD20CBFAA9DFA3E1BDEA63E609FC23E39DD843E206F2A3F31AA9FBEF2591EBE60F638BFA85FD0BF"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @reciprocal_17() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x9628013FE270EB3F0A21D93F5E8CA03E99A39F3F3157813F676D9D3FBC22AD3F59C22E3FBC99F63F"> : tensor<2x5xf32>
  %r = onnx.reciprocal %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x26B4FD3F5A2D0B3F34EA163FBE194C4058434D3FBB587D3F9525503F10433D3FF680BB3FFEE0043F"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @neg_18() -> (tensor<*xi64>, tensor<4xi64>) {
  %i0 = onnx.constant dense<"0x03000000000000000000000000000000FDFFFFFFFFFFFFFF0100000000000000"> : tensor<4xi64>
  %r = onnx.neg %i0 {} : (tensor<4xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0xFDFFFFFFFFFFFFFF00000000000000000300000000000000FFFFFFFFFFFFFFFF"> : tensor<4xi64>
  return %r, %w0 : tensor<*xi64>, tensor<4xi64>
}
func.func @abs_19() -> (tensor<*xi64>, tensor<4xi64>) {
  %i0 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF0100000000000000FBFFFFFFFFFFFFFFFDFFFFFFFFFFFFFF"> : tensor<4xi64>
  %r = onnx.abs %i0 {} : (tensor<4xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x0100000000000000010000000000000005000000000000000300000000000000"> : tensor<4xi64>
  return %r, %w0 : tensor<*xi64>, tensor<4xi64>
}
func.func @sign_20() -> (tensor<*xi64>, tensor<4xi64>) {
  %i0 = onnx.constant dense<"0x0300000000000000FBFFFFFFFFFFFFFF0200000000000000FFFFFFFFFFFFFFFF"> : tensor<4xi64>
  %r = onnx.sign %i0 {} : (tensor<4xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x0100000000000000FFFFFFFFFFFFFFFF0100000000000000FFFFFFFFFFFFFFFF"> : tensor<4xi64>
  return %r, %w0 : tensor<*xi64>, tensor<4xi64>
}
func.func @exp_21() -> (tensor<*xf16>, tensor<6xf16>) {
  %i0 = onnx.constant dense<"0x393C0B3D5C3B30BE9D3ED53C"> : tensor<6xf16>
  %r = onnx.exp %i0 {} : (tensor<6xf16>) -> tensor<*xf16>
  %w0 = onnx.constant dense<"0xBF410E430541D0323945B242"> : tensor<6xf16>
  return %r, %w0 : tensor<*xf16>, tensor<6xf16>
}
func.func @add_22() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0xC360C13F5AE8BE3D2BCED43F331DE8BFFB7DF0BF4EA6F5BF352A7DBF76BB80BF90FF9FBF9054893E0C0AECBF461DB93E9600ABBF8724363F9C35F5BFE3F941BF456EE03F86451D3E62889F3F97D1213F4FD1E23E21149EBF465C983E39AEEBBF"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xC2739A3F6A8EEB3FAD40B53F"> : tensor<3x1xf32>
  %r = onnx.add %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x42EA2D404862A63FF6A03740E2521BBF20F21DBD407EA1BD9FF2593FE8A5553FE8082A3ED195D73F7C25DBBEFE87E33FA06604BE0686F53FB48335BF42DBE53E58FE65401B37FF3F668B45409B3B1E4001F5ED3F6064393EBE57DB3F30B6D9BE"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @add_23() -> (tensor<*xf16>, tensor<4xf16>) {
  %i0 = onnx.constant dense<"0x30BF2AB9D3B932BE"> : tensor<4xf16>
  %i1 = onnx.constant dense<"0x823E313F413D743F"> : tensor<4xf16>
  %r = onnx.add %i0, %i1 {} : (tensor<4xf16>, tensor<4xf16>) -> tensor<*xf16>
  %w0 = onnx.constant dense<"0x70B19C3CAF380835"> : tensor<4xf16>
  return %r, %w0 : tensor<*xf16>, tensor<4xf16>
}
func.func @sub_24() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0x0521983FA2E1BDBFC3A1883FDDE6C33FC7FD9ABF30D1963E79140E3FA4EADF3EE3B8CEBF600F253F241F073F52D4A53F04669B3FD1FA30BF6060633F420BBC3F7330C93F424EADBF1254F2BF446D1A3FF41592BF3E7A823E6BBDE33F4627F7BE"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xAB287DBF852232BE8C04213F"> : tensor<3x1xf32>
  %r = onnx.sub %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xAD5A0B403235FDBE0C9B0340993D214076B984BF72E2EF3E1A9D3A3FF37D1C3F949D0FC0805A813C402BCFBD18A42A3F2DFD0C40B45B983E8644F03FCC4F1D40C474DF3FF10997BFC10FDCBFE5F5463F3A98E2BFDA8EBFBE253B933F184C8EBF"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @sub_25() -> (tensor<*xf16>, tensor<4xf16>) {
  %i0 = onnx.constant dense<"0x62BEA4B7DCBD3339"> : tensor<4xf16>
  %i1 = onnx.constant dense<"0x523F823D7D3D283E"> : tensor<4xf16>
  %r = onnx.sub %i0, %i1 {} : (tensor<4xf16>, tensor<4xf16>) -> tensor<*xf16>
  %w0 = onnx.constant dense<"0xDAC26BBFACC11DBB"> : tensor<4xf16>
  return %r, %w0 : tensor<*xf16>, tensor<4xf16>
}
func.func @mul_26() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0xF2E391BF885381BF343B2EBF64622EBE8241D6BF1B66813F5DE7A13E0D1D4DBFD14BD8BFA7BF863F37E3BCBF57CCBBBFF416BDBFC964D6BFA912D03F394B6CBF4E3C46BF0464AA3F6E9AF53EBE2EA0BF8C8085BE7C91C43FE83BFFBE55F1573F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x386FCEBFD4C7683FF08D8D3F"> : tensor<3x1xf32>
  %r = onnx.mul %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x9D49EB3FCE92D03F567F8C3FEF9E8C3E9CD2C2BF14536B3F0D38933E6F823ABF5D33EFBF8A04953FBFE3D0BF57AFCFBF9F7A18403EE22C406AC927C0308BBE3F644134BFA4EF9A3FAA53DF3E65A791BFA4A393BE3B62D93F82210DBF4CCF6E3F"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @mul_27() -> (tensor<*xf16>, tensor<4xf16>) {
  %i0 = onnx.constant dense<"0x363D933923B8F9BE"> : tensor<4xf16>
  %i1 = onnx.constant dense<"0x133E083FC33C113D"> : tensor<4xf16>
  %r = onnx.mul %i0, %i1 {} : (tensor<4xf16>, tensor<4xf16>) -> tensor<*xf16>
  %w0 = onnx.constant dense<"0xEA3FE63CEDB86AC0"> : tensor<4xf16>
  return %r, %w0 : tensor<*xf16>, tensor<4xf16>
}
func.func @div_28() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0x9CF2133EA14A7E3F6A0DCB3FCF9EBFBF56A7A1BFE95C993F7AFD133FB146623FCA58FE3F32DCE03FFBA0AF3F20E28D3F2A00D7BE5D9E103F5790A1BF75DC843F08F0833F369B623F6B1A62BE977CF9BE234FA4BE29EEEEBFBA4AB03F098C2D3E"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xA15CE6BED0B9443EA7F5623F"> : tensor<3x1xf32>
  %r = onnx.div %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xDF69A4BEE64B0DC0B2A661C060F25440475CD2C05C92C740809440401A3A93401F720F40C6A1FD3FED19C63FB109A03FDFED6E3FC6B6A0BF8C8B3340E1A513C0DEB0AB40187193404B1D93BF355422C04A55B9BE50C006C064D9C63FC9C0433E"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @div_29() -> (tensor<*xf16>, tensor<4xf16>) {
  %i0 = onnx.constant dense<"0x96B74A3DB63E34B7"> : tensor<4xf16>
  %i1 = onnx.constant dense<"0x8D3C0B3FF93F983C"> : tensor<4xf16>
  %r = onnx.div %i0, %i1 {} : (tensor<4xf16>, tensor<4xf16>) -> tensor<*xf16>
  %w0 = onnx.constant dense<"0xABB6023ABC3A46B6"> : tensor<4xf16>
  return %r, %w0 : tensor<*xf16>, tensor<4xf16>
}
func.func @add_30() -> (tensor<*xi64>, tensor<2x3xi64>) {
  %i0 = onnx.constant dense<"0xFEFFFFFFFFFFFFFF0200000000000000"> : tensor<2x1xi64>
  %i1 = onnx.constant dense<"0x05000000000000000400000000000000FFFFFFFFFFFFFFFF"> : tensor<3xi64>
  %r = onnx.add %i0, %i1 {} : (tensor<2x1xi64>, tensor<3xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x03000000000000000200000000000000FDFFFFFFFFFFFFFF070000000000000006000000000000000100000000000000"> : tensor<2x3xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2x3xi64>
}
func.func @mul_31() -> (tensor<*xi64>, tensor<5xi64>) {
  %i0 = onnx.constant dense<"0x0500000000000000FDFFFFFFFFFFFFFFFCFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF"> : tensor<5xi64>
  %i1 = onnx.constant dense<"0x0300000000000000"> : tensor<i64>
  %r = onnx.mul %i0, %i1 {} : (tensor<5xi64>, tensor<i64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x0F00000000000000F7FFFFFFFFFFFFFFF4FFFFFFFFFFFFFFFDFFFFFFFFFFFFFFF4FFFFFFFFFFFFFF"> : tensor<5xi64>
  return %r, %w0 : tensor<*xi64>, tensor<5xi64>
}
func.func @sub_32() -> (tensor<*xi32>, tensor<3xi32>) {
  %i0 = onnx.constant dense<"0x0200000005000000FCFFFFFF"> : tensor<3xi32>
  %i1 = onnx.constant dense<"0xFCFFFFFFFCFFFFFFFCFFFFFF"> : tensor<3xi32>
  %r = onnx.sub %i0, %i1 {} : (tensor<3xi32>, tensor<3xi32>) -> tensor<*xi32>
  %w0 = onnx.constant dense<"0x060000000900000000000000"> : tensor<3xi32>
  return %r, %w0 : tensor<*xi32>, tensor<3xi32>
}
func.func @div_33() -> (tensor<*xi64>, tensor<4xi64>) {
  %i0 = onnx.constant dense<"0xF9FFFFFFFFFFFFFF0700000000000000F9FFFFFFFFFFFFFF0700000000000000"> : tensor<4xi64>
  %i1 = onnx.constant dense<"0x02000000000000000200000000000000FEFFFFFFFFFFFFFFFEFFFFFFFFFFFFFF"> : tensor<4xi64>
  %r = onnx.div %i0, %i1 {} : (tensor<4xi64>, tensor<4xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0xFDFFFFFFFFFFFFFF03000000000000000300000000000000FDFFFFFFFFFFFFFF"> : tensor<4xi64>
  return %r, %w0 : tensor<*xi64>, tensor<4xi64>
}
func.func @add_34() -> (tensor<*xui8>, tensor<2xui8>) {
  %i0 = onnx.constant dense<"0xFA05"> : tensor<2xui8>
  %i1 = onnx.constant dense<"0x0A01"> : tensor<2xui8>
  %r = onnx.add %i0, %i1 {} : (tensor<2xui8>, tensor<2xui8>) -> tensor<*xui8>
  %w0 = onnx.constant dense<"0x0406"> : tensor<2xui8>
  return %r, %w0 : tensor<*xui8>, tensor<2xui8>
}
func.func @pow_35() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<"0x1E30933FE67D643FB419C03F7021C33EF017EA3F5368DE3E"> : tensor<2x3xf32>
  %i1 = onnx.constant dense<"0x00000040"> : tensor<f32>
  %r = onnx.pow %i0, %i1 {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x9740A93F80F04B3F91261040F5BB143EC50F56401A39413E"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @pow_36() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0x3B72E23F3BA7883F7598BC3F"> : tensor<3xf32>
  %i1 = onnx.constant dense<"0x02000000000000000300000000000000FFFFFFFFFFFFFFFF"> : tensor<3xi64>
  %r = onnx.pow %i0, %i1 {} : (tensor<3xf32>, tensor<3xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xE34D484016C19B3F5BBF2D3F"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @pow_37() -> (tensor<*xi64>, tensor<4xi64>) {
  %i0 = onnx.constant dense<"0xFCFFFFFFFFFFFFFFFBFFFFFFFFFFFFFFFCFFFFFFFFFFFFFFFEFFFFFFFFFFFFFF"> : tensor<4xi64>
  %i1 = onnx.constant dense<"0x0300000000000000"> : tensor<i64>
  %r = onnx.pow %i0, %i1 {} : (tensor<4xi64>, tensor<i64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0xC0FFFFFFFFFFFFFF83FFFFFFFFFFFFFFC0FFFFFFFFFFFFFFF8FFFFFFFFFFFFFF"> : tensor<4xi64>
  return %r, %w0 : tensor<*xi64>, tensor<4xi64>
}
func.func @mod_38() -> (tensor<*xi64>, tensor<4xi64>) {
  %i0 = onnx.constant dense<"0xF9FFFFFFFFFFFFFF0700000000000000F9FFFFFFFFFFFFFF0700000000000000"> : tensor<4xi64>
  %i1 = onnx.constant dense<"0x03000000000000000300000000000000FDFFFFFFFFFFFFFFFDFFFFFFFFFFFFFF"> : tensor<4xi64>
  %r = onnx.mod %i0, %i1 {} : (tensor<4xi64>, tensor<4xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x02000000000000000100000000000000FFFFFFFFFFFFFFFFFEFFFFFFFFFFFFFF"> : tensor<4xi64>
  return %r, %w0 : tensor<*xi64>, tensor<4xi64>
}
func.func @mod_39() -> (tensor<*xi64>, tensor<2xi64>) {
  %i0 = onnx.constant dense<"0xF9FFFFFFFFFFFFFF0700000000000000"> : tensor<2xi64>
  %i1 = onnx.constant dense<"0x0300000000000000FDFFFFFFFFFFFFFF"> : tensor<2xi64>
  %r = onnx.mod %i0, %i1 {fmod = 1 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF0100000000000000"> : tensor<2xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2xi64>
}
func.func @mod_40() -> (tensor<*xf32>, tensor<4xf32>) {
  %i0 = onnx.constant dense<"0x9A4640BFBC05613F963F38BE79EEE2BF"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0x041CFF3F59A1EA3F27EFEF3F5CAF5E3F"> : tensor<4xf32>
  %r = onnx.mod %i0, %i1 {fmod = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x9A4640BFBC05613F963F38BEA0E307BD"> : tensor<4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<4xf32>
}
func.func @equal_41() -> (tensor<*xi1>, tensor<3x2xi1>) {
  %i0 = onnx.constant dense<"0xFBFFFFFFFFFFFFFFFBFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF"> : tensor<3x1xi64>
  %i1 = onnx.constant dense<"0xFBFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF"> : tensor<2xi64>
  %r = onnx.equal %i0, %i1 {} : (tensor<3x1xi64>, tensor<2xi64>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[[true, false], [true, false], [false, true]]> : tensor<3x2xi1>
  return %r, %w0 : tensor<*xi1>, tensor<3x2xi1>
}
func.func @equal_42() -> (tensor<*xi1>, tensor<4xi1>) {
  %i0 = onnx.constant dense<"0x7D17EFBF4FA85A3CA0F4C0BF6FBBA5BF"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0x00000000"> : tensor<1xf32>
  %r = onnx.equal %i0, %i1 {} : (tensor<4xf32>, tensor<1xf32>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[false, false, false, false]> : tensor<4xi1>
  return %r, %w0 : tensor<*xi1>, tensor<4xi1>
}
func.func @less_43() -> (tensor<*xi1>, tensor<3x2xi1>) {
  %i0 = onnx.constant dense<"0xFBFFFFFFFFFFFFFFFCFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF"> : tensor<3x1xi64>
  %i1 = onnx.constant dense<"0xFCFFFFFFFFFFFFFFFBFFFFFFFFFFFFFF"> : tensor<2xi64>
  %r = onnx.less %i0, %i1 {} : (tensor<3x1xi64>, tensor<2xi64>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[[true, false], [false, false], [false, false]]> : tensor<3x2xi1>
  return %r, %w0 : tensor<*xi1>, tensor<3x2xi1>
}
func.func @less_44() -> (tensor<*xi1>, tensor<4xi1>) {
  %i0 = onnx.constant dense<"0x9DF1A1BFFAF02D3F1EC16FBF67ABDC3D"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0x00000000"> : tensor<1xf32>
  %r = onnx.less %i0, %i1 {} : (tensor<4xf32>, tensor<1xf32>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[true, false, true, false]> : tensor<4xi1>
  return %r, %w0 : tensor<*xi1>, tensor<4xi1>
}
func.func @less_or_equal_45() -> (tensor<*xi1>, tensor<3x2xi1>) {
  %i0 = onnx.constant dense<"0xFCFFFFFFFFFFFFFFFBFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF"> : tensor<3x1xi64>
  %i1 = onnx.constant dense<"0xFCFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF"> : tensor<2xi64>
  %r = onnx.less_or_equal %i0, %i1 {} : (tensor<3x1xi64>, tensor<2xi64>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[[true, true], [true, true], [true, true]]> : tensor<3x2xi1>
  return %r, %w0 : tensor<*xi1>, tensor<3x2xi1>
}
func.func @less_or_equal_46() -> (tensor<*xi1>, tensor<4xi1>) {
  %i0 = onnx.constant dense<"0xEC4E143E84CDD5BE8CE5943F3133BF3F"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0x00000000"> : tensor<1xf32>
  %r = onnx.less_or_equal %i0, %i1 {} : (tensor<4xf32>, tensor<1xf32>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[false, true, false, false]> : tensor<4xi1>
  return %r, %w0 : tensor<*xi1>, tensor<4xi1>
}
func.func @greater_47() -> (tensor<*xi1>, tensor<3x2xi1>) {
  %i0 = onnx.constant dense<"0xFCFFFFFFFFFFFFFFFBFFFFFFFFFFFFFFFBFFFFFFFFFFFFFF"> : tensor<3x1xi64>
  %i1 = onnx.constant dense<"0xFBFFFFFFFFFFFFFFFBFFFFFFFFFFFFFF"> : tensor<2xi64>
  %r = onnx.greater %i0, %i1 {} : (tensor<3x1xi64>, tensor<2xi64>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[[true, true], [false, false], [false, false]]> : tensor<3x2xi1>
  return %r, %w0 : tensor<*xi1>, tensor<3x2xi1>
}
func.func @greater_48() -> (tensor<*xi1>, tensor<4xi1>) {
  %i0 = onnx.constant dense<"0xBF0BC6BFB48DF53F4118E23FFEE589BF"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0x00000000"> : tensor<1xf32>
  %r = onnx.greater %i0, %i1 {} : (tensor<4xf32>, tensor<1xf32>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[false, true, true, false]> : tensor<4xi1>
  return %r, %w0 : tensor<*xi1>, tensor<4xi1>
}
func.func @greater_or_equal_49() -> (tensor<*xi1>, tensor<3x2xi1>) {
  %i0 = onnx.constant dense<"0xFCFFFFFFFFFFFFFFFCFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF"> : tensor<3x1xi64>
  %i1 = onnx.constant dense<"0xFBFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF"> : tensor<2xi64>
  %r = onnx.greater_or_equal %i0, %i1 {} : (tensor<3x1xi64>, tensor<2xi64>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[[true, true], [true, true], [true, true]]> : tensor<3x2xi1>
  return %r, %w0 : tensor<*xi1>, tensor<3x2xi1>
}
func.func @greater_or_equal_50() -> (tensor<*xi1>, tensor<4xi1>) {
  %i0 = onnx.constant dense<"0xAE5F2BBC1A75D43FCD3FEBBFAD143DBF"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0x00000000"> : tensor<1xf32>
  %r = onnx.greater_or_equal %i0, %i1 {} : (tensor<4xf32>, tensor<1xf32>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[false, true, false, false]> : tensor<4xi1>
  return %r, %w0 : tensor<*xi1>, tensor<4xi1>
}
func.func @and_51() -> (tensor<*xi1>, tensor<2x3xi1>) {
  %i0 = onnx.constant dense<[[true, false, true], [true, false, true]]> : tensor<2x3xi1>
  %i1 = onnx.constant dense<[false, true, false]> : tensor<3xi1>
  %r = onnx.and %i0, %i1 {} : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[[false, false, false], [false, false, false]]> : tensor<2x3xi1>
  return %r, %w0 : tensor<*xi1>, tensor<2x3xi1>
}
func.func @or_52() -> (tensor<*xi1>, tensor<2x3xi1>) {
  %i0 = onnx.constant dense<[[true, false, true], [true, false, true]]> : tensor<2x3xi1>
  %i1 = onnx.constant dense<[false, true, false]> : tensor<3xi1>
  %r = onnx.or %i0, %i1 {} : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[[true, true, true], [true, true, true]]> : tensor<2x3xi1>
  return %r, %w0 : tensor<*xi1>, tensor<2x3xi1>
}
func.func @xor_53() -> (tensor<*xi1>, tensor<2x3xi1>) {
  %i0 = onnx.constant dense<[[true, false, true], [true, false, true]]> : tensor<2x3xi1>
  %i1 = onnx.constant dense<[false, true, false]> : tensor<3xi1>
  %r = onnx.xor %i0, %i1 {} : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[[true, true, true], [true, true, true]]> : tensor<2x3xi1>
  return %r, %w0 : tensor<*xi1>, tensor<2x3xi1>
}
func.func @not_54() -> (tensor<*xi1>, tensor<2x3xi1>) {
  %i0 = onnx.constant dense<[[true, false, true], [true, false, true]]> : tensor<2x3xi1>
  %r = onnx.not %i0 {} : (tensor<2x3xi1>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[[false, true, false], [false, true, false]]> : tensor<2x3xi1>
  return %r, %w0 : tensor<*xi1>, tensor<2x3xi1>
}
func.func @equal_55() -> (tensor<*xi1>, tensor<2x3xi1>) {
  %i0 = onnx.constant dense<[[true, false, true], [true, false, true]]> : tensor<2x3xi1>
  %i1 = onnx.constant dense<[false, true, false]> : tensor<3xi1>
  %r = onnx.equal %i0, %i1 {} : (tensor<2x3xi1>, tensor<3xi1>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[[false, false, false], [false, false, false]]> : tensor<2x3xi1>
  return %r, %w0 : tensor<*xi1>, tensor<2x3xi1>
}
func.func @max_56() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<"0xB1FFC23F7D9C853F2170A83FF0AA853FC1B4543F010BB33F"> : tensor<2x3xf32>
  %i1 = onnx.constant dense<"0x07D5393FE656713FB41D4BBF"> : tensor<3xf32>
  %i2 = onnx.constant dense<"0xFF2AAABF"> : tensor<1x1xf32>
  %r = onnx.max %i0, %i1, %i2 {} : (tensor<2x3xf32>, tensor<3xf32>, tensor<1x1xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xB1FFC23F7D9C853F2170A83FF0AA853FE656713F010BB33F"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @min_57() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<"0x3E57833F6017ABBFEBC2D63FAEECC53ED3A82EBFB18FDF3F"> : tensor<2x3xf32>
  %i1 = onnx.constant dense<"0xC492B0BF38046D3DD31FD1BF"> : tensor<3xf32>
  %i2 = onnx.constant dense<"0x8A4CEE3F"> : tensor<1x1xf32>
  %r = onnx.min %i0, %i1, %i2 {} : (tensor<2x3xf32>, tensor<3xf32>, tensor<1x1xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xC492B0BF6017ABBFD31FD1BFC492B0BFD3A82EBFD31FD1BF"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @sum_58() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<"0xC45E9A3E307A9B3FBB4F5FBF16859A3FCEB54F3F3C21133F"> : tensor<2x3xf32>
  %i1 = onnx.constant dense<"0x2BB0E63FB13588BE1EE6ADBE"> : tensor<3xf32>
  %i2 = onnx.constant dense<"0x67BB443F"> : tensor<1x1xf32>
  %r = onnx.sum %i0, %i1, %i2 {} : (tensor<2x3xf32>, tensor<3xf32>, tensor<1x1xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xC8D2374078CADB3FC60EE3BE7AC971402E2BA83FCA74803F"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @mean_59() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<"0x5E8CAB3FD5E128BF94BA2D3F0DF994BF5AC3533EE0D0893F"> : tensor<2x3xf32>
  %i1 = onnx.constant dense<"0x0A8FDEBF6E4F693F3C19F8BF"> : tensor<3xf32>
  %i2 = onnx.constant dense<"0xDBACEA3F"> : tensor<1x1xf32>
  %r = onnx.mean %i0, %i1, %i2 {} : (tensor<2x3xf32>, tensor<3xf32>, tensor<1x1xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xE9E2F43E1BED313FC3D7433EA779B6BEFDDD7B3F54DBA53E"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @where_60() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<[[true, false, true], [true, false, true]]> : tensor<2x3xi1>
  %i1 = onnx.constant dense<"0x185400BE0F39BABE3EBC613F46DDBE3DA4636C3F9D9AD4BF"> : tensor<2x3xf32>
  %i2 = onnx.constant dense<"0x0699803E61036E3E083EDD3F"> : tensor<3xf32>
  %r = onnx.where %i0, %i1, %i2 {} : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x185400BE61036E3E3EBC613F46DDBE3D61036E3E9D9AD4BF"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @where_61() -> (tensor<*xi64>, tensor<2x3xi64>) {
  %i0 = onnx.constant dense<[false, true, false]> : tensor<3xi1>
  %i1 = onnx.constant dense<"0x0100000000000000FBFFFFFFFFFFFFFF"> : tensor<2x1xi64>
  %i2 = onnx.constant dense<"0x0500000000000000FFFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF"> : tensor<3xi64>
  %r = onnx.where %i0, %i1, %i2 {} : (tensor<3xi1>, tensor<2x1xi64>, tensor<3xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x05000000000000000100000000000000FCFFFFFFFFFFFFFF0500000000000000FBFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF"> : tensor<2x3xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2x3xi64>
}
func.func @clip_62() -> (tensor<*xf32>, tensor<6xf32>) {
  %i0 = onnx.constant dense<"0x09DC4F3E8E07DABF87EEBE3E363C8EBFFAE09BBFC6E3C13F"> : tensor<6xf32>
  %i1 = onnx.constant dense<"0x000080BF"> : tensor<f32>
  %i2 = onnx.constant dense<"0x0000003F"> : tensor<f32>
  %r = onnx.clip %i0, %i1, %i2 {} : (tensor<6xf32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x09DC4F3E000080BF87EEBE3E000080BF000080BF0000003F"> : tensor<6xf32>
  return %r, %w0 : tensor<*xf32>, tensor<6xf32>
}
func.func @clip_63() -> (tensor<*xf32>, tensor<6xf32>) {
  %i0 = onnx.constant dense<"0x70B49ABF9F393BBE9A25803F7C4A543FD5F75A3E1A359D3F"> : tensor<6xf32>
  %i1 = onnx.constant dense<"0x000080BF"> : tensor<f32>
  %i2 = onnx.none
  %r = onnx.clip %i0, %i1, %i2 {} : (tensor<6xf32>, tensor<f32>, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x000080BF9F393BBE9A25803F7C4A543FD5F75A3E1A359D3F"> : tensor<6xf32>
  return %r, %w0 : tensor<*xf32>, tensor<6xf32>
}
func.func @gelu_64() -> (tensor<*xf32>, tensor<8xf32>) {
  %i0 = onnx.constant dense<"0x57040CBEA38CF63E0B49A33FA75D363F753B113F953FC0BE94E46E3E9DD2D4BE"> : tensor<8xf32>
  %r = onnx.gelu %i0 {} : (tensor<8xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xD29379BDBFDEA83E9BC9923FEBF00A3FFD9BCF3E2BFA07BEF77A0D3E403810BE"> : tensor<8xf32>
  return %r, %w0 : tensor<*xf32>, tensor<8xf32>
}
func.func @gelu_65() -> (tensor<*xf32>, tensor<8xf32>) {
  %i0 = onnx.constant dense<"0xC0277A3F09E1F4BE42B808BE46CB823F1F966F3CCADA25BFD054A73FE2C9F3BE"> : tensor<8xf32>
  %r = onnx.gelu %i0 {approximate = "tanh"} : (tensor<8xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x3408513F9AE31ABE946574BD4A695D3FB961F23B7B8F2BBEC74F973FA2911ABE"> : tensor<8xf32>
  return %r, %w0 : tensor<*xf32>, tensor<8xf32>
}
func.func @is_nan_66() -> (tensor<*xi1>, tensor<5xi1>) {
  %i0 = onnx.constant dense<"0x0000C07F0000807F000080FF000000000000C0BF"> : tensor<5xf32>
  %r = onnx.is_nan %i0 {} : (tensor<5xf32>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[true, false, false, false, false]> : tensor<5xi1>
  return %r, %w0 : tensor<*xi1>, tensor<5xi1>
}
func.func @is_inf_67() -> (tensor<*xi1>, tensor<5xi1>) {
  %i0 = onnx.constant dense<"0x0000C07F0000807F000080FF000000000000C0BF"> : tensor<5xf32>
  %r = onnx.is_inf %i0 {} : (tensor<5xf32>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[false, true, true, false, false]> : tensor<5xi1>
  return %r, %w0 : tensor<*xi1>, tensor<5xi1>
}
func.func @is_inf_68() -> (tensor<*xi1>, tensor<5xi1>) {
  %i0 = onnx.constant dense<"0x0000C07F0000807F000080FF000000000000C0BF"> : tensor<5xf32>
  %r = onnx.is_inf %i0 {detect_negative = 0 : i64} : (tensor<5xf32>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[false, true, false, false, false]> : tensor<5xi1>
  return %r, %w0 : tensor<*xi1>, tensor<5xi1>
}
func.func @abs_69() -> (tensor<*xf32>, tensor<5xf32>) {
  %i0 = onnx.constant dense<"0x0000C07F0000807F000080FF000000000000C0BF"> : tensor<5xf32>
  %r = onnx.abs %i0 {} : (tensor<5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0000C07F0000807F0000807F000000000000C03F"> : tensor<5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<5xf32>
}
func.func @max_70() -> (tensor<*xf32>, tensor<5xf32>) {
  %i0 = onnx.constant dense<"0x0000C07F0000807F000080FF000000000000C0BF"> : tensor<5xf32>
  %i1 = onnx.constant dense<"0x5580B03F080B923FADE757BE15005A3F7964EEBF"> : tensor<5xf32>
  %r = onnx.max %i0, %i1 {} : (tensor<5xf32>, tensor<5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0000C07F0000807FADE757BE15005A3F0000C0BF"> : tensor<5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<5xf32>
}
func.func @cast_71() -> (tensor<*xi64>, tensor<5xi64>) {
  %i0 = onnx.constant dense<"0xCDCC2CC0CDCCCCBE000000009A99193F00006040"> : tensor<5xf32>
  %r = onnx.cast %i0 {to = i64} : (tensor<5xf32>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0xFEFFFFFFFFFFFFFF0000000000000000000000000000000000000000000000000300000000000000"> : tensor<5xi64>
  return %r, %w0 : tensor<*xi64>, tensor<5xi64>
}
func.func @cast_72() -> (tensor<*xf16>, tensor<5xf16>) {
  %i0 = onnx.constant dense<"0xCDCC2CC0CDCCCCBE000000009A99193F00006040"> : tensor<5xf32>
  %r = onnx.cast %i0 {to = f16} : (tensor<5xf32>) -> tensor<*xf16>
  %w0 = onnx.constant dense<"0x66C166B60000CD380043"> : tensor<5xf16>
  return %r, %w0 : tensor<*xf16>, tensor<5xf16>
}
func.func @cast_73() -> (tensor<*xi1>, tensor<5xi1>) {
  %i0 = onnx.constant dense<"0xCDCC2CC0CDCCCCBE000000009A99193F00006040"> : tensor<5xf32>
  %r = onnx.cast %i0 {to = i1} : (tensor<5xf32>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[true, true, false, true, true]> : tensor<5xi1>
  return %r, %w0 : tensor<*xi1>, tensor<5xi1>
}
func.func @cast_74() -> (tensor<*xf64>, tensor<5xf64>) {
  %i0 = onnx.constant dense<"0xCDCC2CC0CDCCCCBE000000009A99193F00006040"> : tensor<5xf32>
  %r = onnx.cast %i0 {to = f64} : (tensor<5xf32>) -> tensor<*xf64>
  %w0 = onnx.constant dense<"0x000000A0999905C0000000A09999D9BF0000000000000000000000403333E33F0000000000000C40"> : tensor<5xf64>
  return %r, %w0 : tensor<*xf64>, tensor<5xf64>
}
func.func @cast_75() -> (tensor<*xi32>, tensor<5xi32>) {
  %i0 = onnx.constant dense<"0xCDCC2CC0CDCCCCBE000000009A99193F00006040"> : tensor<5xf32>
  %r = onnx.cast %i0 {to = i32} : (tensor<5xf32>) -> tensor<*xi32>
  %w0 = onnx.constant dense<"0xFEFFFFFF00000000000000000000000003000000"> : tensor<5xi32>
  return %r, %w0 : tensor<*xi32>, tensor<5xi32>
}
func.func @cast_76() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF00000000000000002C01000000000000"> : tensor<3xi64>
  %r = onnx.cast %i0 {to = f32} : (tensor<3xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x000080BF0000000000009643"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @cast_77() -> (tensor<*xui8>, tensor<3xui8>) {
  %i0 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF00000000000000002C01000000000000"> : tensor<3xi64>
  %r = onnx.cast %i0 {to = ui8} : (tensor<3xi64>) -> tensor<*xui8>
  %w0 = onnx.constant dense<"0xFF002C"> : tensor<3xui8>
  return %r, %w0 : tensor<*xui8>, tensor<3xui8>
}
func.func @cast_78() -> (tensor<*xi1>, tensor<3xi1>) {
  %i0 = onnx.constant dense<"0x00000000000000000200000000000000FDFFFFFFFFFFFFFF"> : tensor<3xi64>
  %r = onnx.cast %i0 {to = i1} : (tensor<3xi64>) -> tensor<*xi1>
  %w0 = onnx.constant dense<[false, true, true]> : tensor<3xi1>
  return %r, %w0 : tensor<*xi1>, tensor<3xi1>
}
func.func @cast_79() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<[[true, false, true], [true, false, true]]> : tensor<2x3xi1>
  %r = onnx.cast %i0 {to = f32} : (tensor<2x3xi1>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0000803F000000000000803F0000803F000000000000803F"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @cast_like_80() -> (tensor<*xi64>, tensor<3xi64>) {
  %i0 = onnx.constant dense<"0x60B1E1BEA87DB83F88E5A23E"> : tensor<3xf32>
  %i1 = onnx.constant dense<"0x0100000000000000"> : tensor<1xi64>
  %r = onnx.cast_like %i0, %i1 {} : (tensor<3xf32>, tensor<1xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x000000000000000001000000000000000000000000000000"> : tensor<3xi64>
  return %r, %w0 : tensor<*xi64>, tensor<3xi64>
}
func.func @cast_81() -> (tensor<*xf16>, tensor<6xf16>) {
  %i0 = onnx.constant dense<"0x00EF7F4700F07F4777CC2B3259D98033CDCCCC3D0010803F"> : tensor<6xf32>
  %r = onnx.cast %i0 {to = f16} : (tensor<6xf32>) -> tensor<*xf16>
  %w0 = onnx.constant dense<"0xFF7B007C00000100662E003C"> : tensor<6xf16>
  return %r, %w0 : tensor<*xf16>, tensor<6xf16>
}
func.func @identity_82() -> (tensor<*xf32>, tensor<2x2xf32>) {
  %i0 = onnx.constant dense<"0xC6DA6C3E4FB1283F8DEF353F8F35AB3E"> : tensor<2x2xf32>
  %r = onnx.identity %i0 {} : (tensor<2x2xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xC6DA6C3E4FB1283F8DEF353F8F35AB3E"> : tensor<2x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x2xf32>
}
func.func @shape_83() -> (tensor<*xi64>, tensor<3xi64>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %r = onnx.shape %i0 {} : (tensor<2x3x4xf32>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x020000000000000003000000000000000400000000000000"> : tensor<3xi64>
  return %r, %w0 : tensor<*xi64>, tensor<3xi64>
}
func.func @shape_84() -> (tensor<*xi64>, tensor<2xi64>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %r = onnx.shape %i0 {start = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x03000000000000000400000000000000"> : tensor<2xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2xi64>
}
func.func @shape_85() -> (tensor<*xi64>, tensor<1xi64>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %r = onnx.shape %i0 {end = -1 : i64, start = -2 : i64} : (tensor<2x3x4xf32>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x0300000000000000"> : tensor<1xi64>
  return %r, %w0 : tensor<*xi64>, tensor<1xi64>
}
func.func @size_86() -> (tensor<*xi64>, tensor<i64>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %r = onnx.size %i0 {} : (tensor<2x3x4xf32>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x1800000000000000"> : tensor<i64>
  return %r, %w0 : tensor<*xi64>, tensor<i64>
}
func.func @reshape_87() -> (tensor<*xf32>, tensor<2x12xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x0000000000000000FFFFFFFFFFFFFFFF"> : tensor<2xi64>
  %r = onnx.reshape %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x12xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x12xf32>
}
func.func @reshape_88() -> (tensor<*xf32>, tensor<4x3x2xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x040000000000000000000000000000000200000000000000"> : tensor<3xi64>
  %r = onnx.reshape %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<4x3x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<4x3x2xf32>
}
func.func @reshape_89() -> (tensor<*xf32>, tensor<24xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.reshape %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<24xf32>
  return %r, %w0 : tensor<*xf32>, tensor<24xf32>
}
func.func @reshape_90() -> (tensor<*xf32>, tensor<3x0xf32>) {
  %i0 = onnx.constant dense<> : tensor<0x3xf32>
  %i1 = onnx.constant dense<"0x03000000000000000000000000000000"> : tensor<2xi64>
  %r = onnx.reshape %i0, %i1 {allowzero = 1 : i64} : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<> : tensor<3x0xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x0xf32>
}
func.func @flatten_91() -> (tensor<*xf32>, tensor<6x4xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %r = onnx.flatten %i0 {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<6x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<6x4xf32>
}
func.func @flatten_92() -> (tensor<*xf32>, tensor<1x24xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %r = onnx.flatten %i0 {axis = 0 : i64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<1x24xf32>
  return %r, %w0 : tensor<*xf32>, tensor<1x24xf32>
}
func.func @flatten_93() -> (tensor<*xf32>, tensor<6x4xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %r = onnx.flatten %i0 {axis = -1 : i64} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<6x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<6x4xf32>
}
func.func @squeeze_94() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0x78B8A73FCAADD7BD972B893F"> : tensor<1x3x1xf32>
  %i1 = onnx.none
  %r = onnx.squeeze %i0, %i1 {} : (tensor<1x3x1xf32>, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x78B8A73FCAADD7BD972B893F"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @squeeze_95() -> (tensor<*xf32>, tensor<1x3xf32>) {
  %i0 = onnx.constant dense<"0x14C22BBEE0AE01BF14F63B3E"> : tensor<1x3x1xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.squeeze %i0, %i1 {} : (tensor<1x3x1xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x14C22BBEE0AE01BF14F63B3E"> : tensor<1x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<1x3xf32>
}
func.func @unsqueeze_96() -> (tensor<*xf32>, tensor<1x2x3x4x1xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x0000000000000000FFFFFFFFFFFFFFFF"> : tensor<2xi64>
  %r = onnx.unsqueeze %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<1x2x3x4x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<1x2x3x4x1xf32>
}
func.func @unsqueeze_97() -> (tensor<*xi64>, tensor<1xi64>) {
  %i0 = onnx.constant dense<"0x0300000000000000"> : tensor<i64>
  %i1 = onnx.constant dense<"0x0000000000000000"> : tensor<1xi64>
  %r = onnx.unsqueeze %i0, %i1 {} : (tensor<i64>, tensor<1xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x0300000000000000"> : tensor<1xi64>
  return %r, %w0 : tensor<*xi64>, tensor<1xi64>
}
func.func @transpose_98() -> (tensor<*xf32>, tensor<4x3x2xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %r = onnx.transpose %i0 {} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A8DA2BEAE9EFBBE9BD58DBE80FE3D3F107403BF3657B3BC6D0EA2BF78B16EBFA184FF3F8C79DABF96C3A63EFB9C9ABFA55554BFE5CFC43FA0FC16BF73ADBB3FF652E53FD657A3BE350C54BFB411CABCD28857BE0F863FBF9034C73F07F6A73F"> : tensor<4x3x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<4x3x2xf32>
}
func.func @transpose_99() -> (tensor<*xf32>, tensor<3x2x4xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %r = onnx.transpose %i0 {perm = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BFAE9EFBBE78B16EBFE5CFC43FB411CABC9BD58DBEA184FF3FA0FC16BFD28857BE80FE3D3F8C79DABF73ADBB3F0F863FBF107403BF96C3A63EF652E53F9034C73F3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<3x2x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x2x4xf32>
}
func.func @expand_100() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0xDDE998BF4CD73BBF477C533F"> : tensor<3x1xf32>
  %i1 = onnx.constant dense<"0x020000000000000001000000000000000400000000000000"> : tensor<3xi64>
  %r = onnx.expand %i0, %i1 {} : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xDDE998BFDDE998BFDDE998BFDDE998BF4CD73BBF4CD73BBF4CD73BBF4CD73BBF477C533F477C533F477C533F477C533FDDE998BFDDE998BFDDE998BFDDE998BF4CD73BBF4CD73BBF4CD73BBF4CD73BBF477C533F477C533F477C533F477C533F"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @expand_101() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<"0xCF808A3F27F7E2BFFA696E3F2D86A23FB47C60BE0A06E0BF"> : tensor<2x3xf32>
  %i1 = onnx.constant dense<"0x0100000000000000"> : tensor<1xi64>
  %r = onnx.expand %i0, %i1 {} : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xCF808A3F27F7E2BFFA696E3F2D86A23FB47C60BE0A06E0BF"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @tile_102() -> (tensor<*xf32>, tensor<4x9xf32>) {
  %i0 = onnx.constant dense<"0x9D4D3B3FD6F681BF43CC123F57ADFCBE98740C3F7DAB77BF"> : tensor<2x3xf32>
  %i1 = onnx.constant dense<"0x02000000000000000300000000000000"> : tensor<2xi64>
  %r = onnx.tile %i0, %i1 {} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x9D4D3B3FD6F681BF43CC123F9D4D3B3FD6F681BF43CC123F9D4D3B3FD6F681BF43CC123F57ADFCBE98740C3F7DAB77BF57ADFCBE98740C3F7DAB77BF57ADFCBE98740C3F7DAB77BF9D4D3B3FD6F681BF43CC123F9D4D3B3FD6F681BF43CC123F9D4D3B3FD6F681BF43CC123F57ADFCBE98740C3F7DAB77BF57ADFCBE98740C3F7DAB77BF57ADFCBE98740C3F7DAB77BF"> : tensor<4x9xf32>
  return %r, %w0 : tensor<*xf32>, tensor<4x9xf32>
}
func.func @concat_103() -> (tensor<*xf32>, tensor<2x4xf32>) {
  %i0 = onnx.constant dense<"0x6E35C0BDAE22CA3D"> : tensor<2x1xf32>
  %i1 = onnx.constant dense<"0x5228063F62FA97BFF591EC3F30EC57BFA9A246BF3F8979BF"> : tensor<2x3xf32>
  %r = onnx.concat %i0, %i1 {axis = -1 : i64} : (tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x6E35C0BD5228063F62FA97BFF591EC3FAE22CA3D30EC57BFA9A246BF3F8979BF"> : tensor<2x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x4xf32>
}
func.func @concat_104() -> (tensor<*xi64>, tensor<2x2xi64>) {
  %i0 = onnx.constant dense<> : tensor<0x2xi64>
  %i1 = onnx.constant dense<"0x0100000000000000FFFFFFFFFFFFFFFFFBFFFFFFFFFFFFFF0200000000000000"> : tensor<2x2xi64>
  %r = onnx.concat %i0, %i1 {axis = 0 : i64} : (tensor<0x2xi64>, tensor<2x2xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x0100000000000000FFFFFFFFFFFFFFFFFBFFFFFFFFFFFFFF0200000000000000"> : tensor<2x2xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2x2xi64>
}
func.func @split_105() -> (tensor<*xf32>, tensor<2x2xf32>, tensor<*xf32>, tensor<3x2xf32>) {
  %i0 = onnx.constant dense<"0x212E8B3FB798563FEDDD9BBF10E4B9BF98DB36BFBD58893FEC5343BD99ABD83F1123203FF99DF73E"> : tensor<5x2xf32>
  %i1 = onnx.constant dense<"0x02000000000000000300000000000000"> : tensor<2xi64>
  %r:2 = onnx.split %i0, %i1 {axis = 0 : i64} : (tensor<5x2xf32>, tensor<2xi64>) -> (tensor<*xf32>, tensor<*xf32>)
  %w0 = onnx.constant dense<"0x212E8B3FB798563FEDDD9BBF10E4B9BF"> : tensor<2x2xf32>
  %w1 = onnx.constant dense<"0x98DB36BFBD58893FEC5343BD99ABD83F1123203FF99DF73E"> : tensor<3x2xf32>
  return %r#0, %w0, %r#1, %w1 : tensor<*xf32>, tensor<2x2xf32>, tensor<*xf32>, tensor<3x2xf32>
}
func.func @split_106() -> (tensor<*xf32>, tensor<3xf32>, tensor<*xf32>, tensor<3xf32>, tensor<*xf32>, tensor<1xf32>) {
  %i0 = onnx.constant dense<"0xD00E893FD921803FE6E81FBFCAD278BFB7807FBE982C30BD1D70B7BF"> : tensor<7xf32>
  %i1 = onnx.none
  %r:3 = onnx.split %i0, %i1 {axis = 0 : i64, num_outputs = 3 : i64} : (tensor<7xf32>, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %w0 = onnx.constant dense<"0xD00E893FD921803FE6E81FBF"> : tensor<3xf32>
  %w1 = onnx.constant dense<"0xCAD278BFB7807FBE982C30BD"> : tensor<3xf32>
  %w2 = onnx.constant dense<"0x1D70B7BF"> : tensor<1xf32>
  return %r#0, %w0, %r#1, %w1, %r#2, %w2 : tensor<*xf32>, tensor<3xf32>, tensor<*xf32>, tensor<3xf32>, tensor<*xf32>, tensor<1xf32>
}
func.func @slice_107() -> (tensor<*xf32>, tensor<2x3x3xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x0100000000000000"> : tensor<1xi64>
  %i2 = onnx.constant dense<"0xFFFFFFFFFFFFFF7F"> : tensor<1xi64>
  %i3 = onnx.constant dense<"0x0200000000000000"> : tensor<1xi64>
  %i4 = onnx.none
  %r = onnx.slice %i0, %i1, %i2, %i3, %i4 {} : (tensor<2x3x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x6D0EA2BFA55554BF350C54BFA184FF3FA0FC16BFD28857BE96C3A63EF652E53F9034C73F78B16EBFE5CFC43FB411CABC8C79DABF73ADBB3F0F863FBFFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x3xf32>
}
func.func @slice_108() -> (tensor<*xf32>, tensor<1x3x1xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x00000000000000000100000000000000"> : tensor<2xi64>
  %i2 = onnx.constant dense<"0x0100000000000000FFFFFFFFFFFFFFFF"> : tensor<2xi64>
  %i3 = onnx.constant dense<"0x00000000000000000200000000000000"> : tensor<2xi64>
  %i4 = onnx.constant dense<"0x01000000000000000200000000000000"> : tensor<2xi64>
  %r = onnx.slice %i0, %i1, %i2, %i3, %i4 {} : (tensor<2x3x4xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x6D0EA2BFA184FF3F96C3A63E"> : tensor<1x3x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<1x3x1xf32>
}
func.func @slice_109() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %i2 = onnx.constant dense<"0x0100000000000080"> : tensor<1xi64>
  %i3 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %i4 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.slice %i0, %i1, %i2, %i3, %i4 {} : (tensor<2x3x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x350C54BFA55554BF6D0EA2BF1A8DA2BED28857BEA0FC16BFA184FF3F9BD58DBE9034C73FF652E53F96C3A63E107403BFB411CABCE5CFC43F78B16EBFAE9EFBBE0F863FBF73ADBB3F8C79DABF80FE3D3F07F6A73FD657A3BEFB9C9ABF3657B3BC"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @slice_110() -> (tensor<*xf32>, tensor<2x0x4xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x0300000000000000"> : tensor<1xi64>
  %i2 = onnx.constant dense<"0x0100000000000000"> : tensor<1xi64>
  %i3 = onnx.constant dense<"0x0100000000000000"> : tensor<1xi64>
  %i4 = onnx.none
  %r = onnx.slice %i0, %i1, %i2, %i3, %i4 {} : (tensor<2x3x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<> : tensor<2x0x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x0x4xf32>
}
func.func @slice_111() -> (tensor<*xf32>, tensor<1x3x4xf32>) {
  %i0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73FAE9EFBBE78B16EBFE5CFC43FB411CABC80FE3D3F8C79DABF73ADBB3F0F863FBF3657B3BCFB9C9ABFD657A3BE07F6A73F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFEFFFFFFFFFFFFFF"> : tensor<1xi64>
  %i2 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %i3 = onnx.none
  %i4 = onnx.none
  %r = onnx.slice %i0, %i1, %i2, %i3, %i4 {} : (tensor<2x3x4xf32>, tensor<1xi64>, tensor<1xi64>, none, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1A8DA2BE6D0EA2BFA55554BF350C54BF9BD58DBEA184FF3FA0FC16BFD28857BE107403BF96C3A63EF652E53F9034C73F"> : tensor<1x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<1x3x4xf32>
}
func.func @slice_112() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0xA74D70BED42D0F3FA183BABF1953B9BFFD0DA7BF5FDE5DBF2865EC3F7CCBF2BFF2ECA1BFD97EABBF"> : tensor<10xf32>
  %i1 = onnx.constant dense<"0x0800000000000000"> : tensor<1xi64>
  %i2 = onnx.constant dense<"0x0000000000000000"> : tensor<1xi64>
  %i3 = onnx.constant dense<"0x0000000000000000"> : tensor<1xi64>
  %i4 = onnx.constant dense<"0xFDFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.slice %i0, %i1, %i2, %i3, %i4 {} : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xF2ECA1BF5FDE5DBFA183BABF"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @slice_113() -> (tensor<*xf32>, tensor<4xf32>) {
  %i0 = onnx.constant dense<"0x1724D2BD6148F8BF8F522BBE6E95ACBF6FE36BBFC6BA953FF1C1A1BF3EE1EF3E5ADFBFBEA7C3A8BE"> : tensor<10xf32>
  %i1 = onnx.constant dense<"0x1400000000000000"> : tensor<1xi64>
  %i2 = onnx.constant dense<"0x0200000000000000"> : tensor<1xi64>
  %i3 = onnx.constant dense<"0x0000000000000000"> : tensor<1xi64>
  %i4 = onnx.constant dense<"0xFEFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.slice %i0, %i1, %i2, %i3, %i4 {} : (tensor<10xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xA7C3A8BE3EE1EF3EC6BA953F6E95ACBF"> : tensor<4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<4xf32>
}
func.func @pad_114() -> (tensor<*xf32>, tensor<3x5xf32>) {
  %i0 = onnx.constant dense<"0x9039A23F8E9CADBFA7FDD83FA277C93F985C2C3FD7AEE6BF"> : tensor<2x3xf32>
  %i1 = onnx.constant dense<"0x0100000000000000000000000000000000000000000000000200000000000000"> : tensor<4xi64>
  %i2 = onnx.constant dense<"0x00001041"> : tensor<f32>
  %i3 = onnx.none
  %r = onnx.pad %i0, %i1, %i2, %i3 {} : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x00001041000010410000104100001041000010419039A23F8E9CADBFA7FDD83F0000104100001041A277C93F985C2C3FD7AEE6BF0000104100001041"> : tensor<3x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x5xf32>
}
func.func @pad_115() -> (tensor<*xf32>, tensor<7xf32>) {
  %i0 = onnx.constant dense<"0x5A3A273F1683CD3E935E8B3FAB8492BF"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0x02000000000000000100000000000000"> : tensor<2xi64>
  %i2 = onnx.none
  %i3 = onnx.none
  %r = onnx.pad %i0, %i1, %i2, %i3 {mode = "reflect"} : (tensor<4xf32>, tensor<2xi64>, none, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x935E8B3F1683CD3E5A3A273F1683CD3E935E8B3FAB8492BF935E8B3F"> : tensor<7xf32>
  return %r, %w0 : tensor<*xf32>, tensor<7xf32>
}
func.func @pad_116() -> (tensor<*xf32>, tensor<7xf32>) {
  %i0 = onnx.constant dense<"0x471EE83FA2BBC53FFB72C5BFB93B3DBF"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0x02000000000000000100000000000000"> : tensor<2xi64>
  %i2 = onnx.none
  %i3 = onnx.none
  %r = onnx.pad %i0, %i1, %i2, %i3 {mode = "edge"} : (tensor<4xf32>, tensor<2xi64>, none, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x471EE83F471EE83F471EE83FA2BBC53FFB72C5BFB93B3DBFB93B3DBF"> : tensor<7xf32>
  return %r, %w0 : tensor<*xf32>, tensor<7xf32>
}
func.func @pad_117() -> (tensor<*xf32>, tensor<2x6xf32>) {
  %i0 = onnx.constant dense<"0x7A63EFBFEA71A93F4C87D43F47C8FA3FF238E53E20F8293F"> : tensor<2x3xf32>
  %i1 = onnx.constant dense<"0x02000000000000000100000000000000"> : tensor<2xi64>
  %i2 = onnx.constant dense<"0x00000000"> : tensor<f32>
  %i3 = onnx.constant dense<"0x0100000000000000"> : tensor<1xi64>
  %r = onnx.pad %i0, %i1, %i2, %i3 {} : (tensor<2x3xf32>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x00000000000000007A63EFBFEA71A93F4C87D43F00000000000000000000000047C8FA3FF238E53E20F8293F00000000"> : tensor<2x6xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x6xf32>
}
func.func @range_118() -> (tensor<*xi64>, tensor<3xi64>) {
  %i0 = onnx.constant dense<"0x0200000000000000"> : tensor<i64>
  %i1 = onnx.constant dense<"0x0900000000000000"> : tensor<i64>
  %i2 = onnx.constant dense<"0x0300000000000000"> : tensor<i64>
  %r = onnx.range %i0, %i1, %i2 {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x020000000000000005000000000000000800000000000000"> : tensor<3xi64>
  return %r, %w0 : tensor<*xi64>, tensor<3xi64>
}
func.func @range_119() -> (tensor<*xi64>, tensor<5xi64>) {
  %i0 = onnx.constant dense<"0x0500000000000000"> : tensor<i64>
  %i1 = onnx.constant dense<"0xFCFFFFFFFFFFFFFF"> : tensor<i64>
  %i2 = onnx.constant dense<"0xFEFFFFFFFFFFFFFF"> : tensor<i64>
  %r = onnx.range %i0, %i1, %i2 {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x050000000000000003000000000000000100000000000000FFFFFFFFFFFFFFFFFDFFFFFFFFFFFFFF"> : tensor<5xi64>
  return %r, %w0 : tensor<*xi64>, tensor<5xi64>
}
func.func @range_120() -> (tensor<*xi64>, tensor<0xi64>) {
  %i0 = onnx.constant dense<"0x0300000000000000"> : tensor<i64>
  %i1 = onnx.constant dense<"0x0300000000000000"> : tensor<i64>
  %i2 = onnx.constant dense<"0x0100000000000000"> : tensor<i64>
  %r = onnx.range %i0, %i1, %i2 {} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<> : tensor<0xi64>
  return %r, %w0 : tensor<*xi64>, tensor<0xi64>
}
func.func @range_121() -> (tensor<*xf32>, tensor<4xf32>) {
  %i0 = onnx.constant dense<"0x0000003F"> : tensor<f32>
  %i1 = onnx.constant dense<"0x00000040"> : tensor<f32>
  %i2 = onnx.constant dense<"0xCDCCCC3E"> : tensor<f32>
  %r = onnx.range %i0, %i1, %i2 {} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0000003F6666663F6666A63F9A99D93F"> : tensor<4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<4xf32>
}
func.func @constant_of_shape_122() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<"0x02000000000000000300000000000000"> : tensor<2xi64>
  %r = onnx.constant_of_shape %i0 {} : (tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x000000000000000000000000000000000000000000000000"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @constant_of_shape_123() -> (tensor<*xi64>, tensor<3xi64>) {
  %i0 = onnx.constant dense<"0x0300000000000000"> : tensor<1xi64>
  %r = onnx.constant_of_shape %i0 {value = dense<"0x0700000000000000"> : tensor<1xi64>} : (tensor<1xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x070000000000000007000000000000000700000000000000"> : tensor<3xi64>
  return %r, %w0 : tensor<*xi64>, tensor<3xi64>
}
func.func @constant_of_shape_124() -> (tensor<*xi1>, tensor<i1>) {
  %i0 = onnx.constant dense<> : tensor<0xi64>
  %r = onnx.constant_of_shape %i0 {value = dense<[true]> : tensor<1xi1>} : (tensor<0xi64>) -> tensor<*xi1>
  %w0 = onnx.constant dense<true> : tensor<i1>
  return %r, %w0 : tensor<*xi1>, tensor<i1>
}
func.func @trilu_125() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0xF1AF363FFCA98F3EFAA3E73F59E6DC3E6F3728BF0FFB523DD271F6BF5E81653F3F93463FF0AFA1BE54F5B33F51D4823F273C27BF3052D8BF444DBCBF12A7A1BFB6C948BFC1F956BE5E22DB3F6BE662BF6C13CC3F14CB383F06FDB43F1623C6BE"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<i64>
  %r = onnx.trilu %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<i64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xF1AF363FFCA98F3EFAA3E73F59E6DC3E6F3728BF0FFB523DD271F6BF5E81653F00000000F0AFA1BE54F5B33F51D4823F273C27BF3052D8BF444DBCBF12A7A1BFB6C948BFC1F956BE5E22DB3F6BE662BF0000000014CB383F06FDB43F1623C6BE"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @trilu_126() -> (tensor<*xf32>, tensor<3x4xf32>) {
  %i0 = onnx.constant dense<"0x8352FEBF63ED923FFD5082BFD60CB7BFF656993FF0CC3E3F513E93BF08FF6DBF6CE1E03F62046DBF7D434F3F32ABBDBF"> : tensor<3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<i64>
  %r = onnx.trilu %i0, %i1 {upper = 0 : i64} : (tensor<3x4xf32>, tensor<i64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x00000000000000000000000000000000F656993F0000000000000000000000006CE1E03F62046DBF0000000000000000"> : tensor<3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x4xf32>
}
func.func @trilu_127() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0x624CA13F3ECBC3BFAE68833DF5F7EDBF291F4D3E6378B13FB8C9D4BF492967BFD985873FA762DD3E2BB23FBF61FF033FAC8139BEC386B93F900754BF44F5833F2AEE0A3FEE32763FFA51F9BEB251663F36304B3F396CE6BEDA74F2BFF902ED3F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x0000000000000000"> : tensor<i64>
  %r = onnx.trilu %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<i64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x624CA13F3ECBC3BFAE68833DF5F7EDBF000000006378B13FB8C9D4BF492967BF00000000000000002BB23FBF61FF033FAC8139BEC386B93F900754BF44F5833F00000000EE32763FFA51F9BEB251663F0000000000000000DA74F2BFF902ED3F"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @trilu_128() -> (tensor<*xf32>, tensor<3x4xf32>) {
  %i0 = onnx.constant dense<"0x10BA5A3F7F2C97BFBA586C3FD4A062BF339DFBBD4343B83F59B254BECE1459BF572D47BF3191D8BFF79C8FBF21636ABF"> : tensor<3x4xf32>
  %i1 = onnx.constant dense<"0x0000000000000000"> : tensor<i64>
  %r = onnx.trilu %i0, %i1 {upper = 0 : i64} : (tensor<3x4xf32>, tensor<i64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x10BA5A3F000000000000000000000000339DFBBD4343B83F0000000000000000572D47BF3191D8BFF79C8FBF00000000"> : tensor<3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x4xf32>
}
func.func @trilu_129() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0x9870A7BFDAB5DFBFAA200CBEAC3A92BF4280743F8F55D83FB37668BFE9F6933EF762DC3C608BD9BF7710C0BFD001C53F1BBFD3BDD5F59B3F21E9DDBF642DC23E2B0ABB3F16F0BB3FF311FDBF5CEEB13D9E2306BF3B24853F0A83DABF17B770BF"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x0100000000000000"> : tensor<i64>
  %r = onnx.trilu %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<i64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x00000000DAB5DFBFAA200CBEAC3A92BF0000000000000000B37668BFE9F6933E000000000000000000000000D001C53F00000000D5F59B3F21E9DDBF642DC23E0000000000000000F311FDBF5CEEB13D00000000000000000000000017B770BF"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @trilu_130() -> (tensor<*xf32>, tensor<3x4xf32>) {
  %i0 = onnx.constant dense<"0xB712A03F3B65F9BD73E53FBEEBE6EF3F956E38BF68A3EABFCFC5DCBE0579B1BF4512D6BF5FFA8A3E103BE83F70A0A23E"> : tensor<3x4xf32>
  %i1 = onnx.constant dense<"0x0100000000000000"> : tensor<i64>
  %r = onnx.trilu %i0, %i1 {upper = 0 : i64} : (tensor<3x4xf32>, tensor<i64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xB712A03F3B65F9BD0000000000000000956E38BF68A3EABFCFC5DCBE000000004512D6BF5FFA8A3E103BE83F70A0A23E"> : tensor<3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x4xf32>
}
func.func @trilu_131() -> (tensor<*xf32>, tensor<3x3xf32>) {
  %i0 = onnx.constant dense<"0x32A5163FA39A34BFDCA8913E3126813FFADAB63EC4059B3F58BA4E3EDD8C9ABF626CA93E"> : tensor<3x3xf32>
  %i1 = onnx.none
  %r = onnx.trilu %i0, %i1 {} : (tensor<3x3xf32>, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x32A5163FA39A34BFDCA8913E00000000FADAB63EC4059B3F0000000000000000626CA93E"> : tensor<3x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x3xf32>
}
func.func @eye_like_132() -> (tensor<*xf32>, tensor<3x4xf32>) {
  %i0 = onnx.constant dense<"0xD08114BD7F0AABBF3A0DF43EA748A23FC9D5BABF2719383EAE4B6F3FB69EC6BE00796BBFEDC802BF11CC2A3EE6233F3F"> : tensor<3x4xf32>
  %r = onnx.eye_like %i0 {k = 1 : i64} : (tensor<3x4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x000000000000803F000000000000000000000000000000000000803F000000000000000000000000000000000000803F"> : tensor<3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x4xf32>
}
func.func @gather_133() -> (tensor<*xf32>, tensor<2x4x2xf32>) {
  %i0 = onnx.constant dense<"0xB861723E0434C9BF01C2A23F2404D93F5823CCBFFC3E80BF4213A7BF77C4B23F0E10D23FF354E9BF3F9A2BBF59719DBF8B96F9BDB3DAD73F4112DCBF1B4EA8BF238354BD68E4C43DB0647B3FED3C7FBEECBCB7BFC5E615BFE9D4F63FA75E803F"> : tensor<3x4x2xf32>
  %i1 = onnx.constant dense<"0x0000000000000000FFFFFFFFFFFFFFFF"> : tensor<2xi64>
  %r = onnx.gather %i0, %i1 {} : (tensor<3x4x2xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xB861723E0434C9BF01C2A23F2404D93F5823CCBFFC3E80BF4213A7BF77C4B23F238354BD68E4C43DB0647B3FED3C7FBEECBCB7BFC5E615BFE9D4F63FA75E803F"> : tensor<2x4x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x4x2xf32>
}
func.func @gather_134() -> (tensor<*xf32>, tensor<3x2x2x2xf32>) {
  %i0 = onnx.constant dense<"0xB861723E0434C9BF01C2A23F2404D93F5823CCBFFC3E80BF4213A7BF77C4B23F0E10D23FF354E9BF3F9A2BBF59719DBF8B96F9BDB3DAD73F4112DCBF1B4EA8BF238354BD68E4C43DB0647B3FED3C7FBEECBCB7BFC5E615BFE9D4F63FA75E803F"> : tensor<3x4x2xf32>
  %i1 = onnx.constant dense<"0x0100000000000000030000000000000000000000000000000100000000000000"> : tensor<2x2xi64>
  %r = onnx.gather %i0, %i1 {axis = 1 : i64} : (tensor<3x4x2xf32>, tensor<2x2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x01C2A23F2404D93F4213A7BF77C4B23FB861723E0434C9BF01C2A23F2404D93F3F9A2BBF59719DBF4112DCBF1B4EA8BF0E10D23FF354E9BF3F9A2BBF59719DBFB0647B3FED3C7FBEE9D4F63FA75E803F238354BD68E4C43DB0647B3FED3C7FBE"> : tensor<3x2x2x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x2x2x2xf32>
}
func.func @gather_135() -> (tensor<*xi64>, tensor<i64>) {
  %i0 = onnx.constant dense<"0x050000000000000006000000000000000700000000000000"> : tensor<3xi64>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<i64>
  %r = onnx.gather %i0, %i1 {} : (tensor<3xi64>, tensor<i64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x0700000000000000"> : tensor<i64>
  return %r, %w0 : tensor<*xi64>, tensor<i64>
}
func.func @gather_136() -> (tensor<*xf32>, tensor<3x4xf32>) {
  %i0 = onnx.constant dense<"0xB861723E0434C9BF01C2A23F2404D93F5823CCBFFC3E80BF4213A7BF77C4B23F0E10D23FF354E9BF3F9A2BBF59719DBF8B96F9BDB3DAD73F4112DCBF1B4EA8BF238354BD68E4C43DB0647B3FED3C7FBEECBCB7BFC5E615BFE9D4F63FA75E803F"> : tensor<3x4x2xf32>
  %i1 = onnx.constant dense<"0x0100000000000000"> : tensor<i64>
  %r = onnx.gather %i0, %i1 {axis = -1 : i64} : (tensor<3x4x2xf32>, tensor<i64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0434C9BF2404D93FFC3E80BF77C4B23FF354E9BF59719DBFB3DAD73F1B4EA8BF68E4C43DED3C7FBEC5E615BFA75E803F"> : tensor<3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x4xf32>
}
func.func @gather_elements_137() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<"0x7E9C41BF3313903F937CF9BF1F17BE3FA9E5ACBFDD3E35BE42A3253F5DEF003DFC50ABBF"> : tensor<3x3xf32>
  %i1 = onnx.constant dense<"0x0100000000000000FFFFFFFFFFFFFFFFFDFFFFFFFFFFFFFFFEFFFFFFFFFFFFFFFEFFFFFFFFFFFFFF0200000000000000"> : tensor<2x3xi64>
  %r = onnx.gather_elements %i0, %i1 {axis = 0 : i64} : (tensor<3x3xf32>, tensor<2x3xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x1F17BE3F5DEF003D937CF9BF1F17BE3FA9E5ACBFFC50ABBF"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @gather_elements_138() -> (tensor<*xf32>, tensor<3x2xf32>) {
  %i0 = onnx.constant dense<"0x0B2191BFE062BDBF013110BE10EF12BF1BD5B13E4A6160BF36A3EEBF75F12CBF0CA7823F"> : tensor<3x3xf32>
  %i1 = onnx.constant dense<"0x000000000000000002000000000000000000000000000000000000000000000001000000000000000100000000000000"> : tensor<3x2xi64>
  %r = onnx.gather_elements %i0, %i1 {axis = 1 : i64} : (tensor<3x3xf32>, tensor<3x2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0B2191BF013110BE10EF12BF10EF12BF75F12CBF75F12CBF"> : tensor<3x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x2xf32>
}
func.func @gather_nd_139() -> (tensor<*xf32>, tensor<2x2xf32>) {
  %i0 = onnx.constant dense<"0xB861723E0434C9BF01C2A23F2404D93F5823CCBFFC3E80BF4213A7BF77C4B23F0E10D23FF354E9BF3F9A2BBF59719DBF8B96F9BDB3DAD73F4112DCBF1B4EA8BF238354BD68E4C43DB0647B3FED3C7FBEECBCB7BFC5E615BFE9D4F63FA75E803F"> : tensor<3x4x2xf32>
  %i1 = onnx.constant dense<"0x000000000000000001000000000000000200000000000000FFFFFFFFFFFFFFFF"> : tensor<2x2xi64>
  %r = onnx.gather_nd %i0, %i1 {} : (tensor<3x4x2xf32>, tensor<2x2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x01C2A23F2404D93FE9D4F63FA75E803F"> : tensor<2x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x2xf32>
}
func.func @gather_nd_140() -> (tensor<*xf32>, tensor<3x2xf32>) {
  %i0 = onnx.constant dense<"0xB861723E0434C9BF01C2A23F2404D93F5823CCBFFC3E80BF4213A7BF77C4B23F0E10D23FF354E9BF3F9A2BBF59719DBF8B96F9BDB3DAD73F4112DCBF1B4EA8BF238354BD68E4C43DB0647B3FED3C7FBEECBCB7BFC5E615BFE9D4F63FA75E803F"> : tensor<3x4x2xf32>
  %i1 = onnx.constant dense<"0x030000000000000003000000000000000100000000000000"> : tensor<3x1xi64>
  %r = onnx.gather_nd %i0, %i1 {batch_dims = 1 : i64} : (tensor<3x4x2xf32>, tensor<3x1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x4213A7BF77C4B23F4112DCBF1B4EA8BFB0647B3FED3C7FBE"> : tensor<3x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x2xf32>
}
func.func @gather_nd_141() -> (tensor<*xf32>, tensor<2xf32>) {
  %i0 = onnx.constant dense<"0xB861723E0434C9BF01C2A23F2404D93F5823CCBFFC3E80BF4213A7BF77C4B23F0E10D23FF354E9BF3F9A2BBF59719DBF8B96F9BDB3DAD73F4112DCBF1B4EA8BF238354BD68E4C43DB0647B3FED3C7FBEECBCB7BFC5E615BFE9D4F63FA75E803F"> : tensor<3x4x2xf32>
  %i1 = onnx.constant dense<"0x000000000000000001000000000000000100000000000000020000000000000003000000000000000000000000000000"> : tensor<2x3xi64>
  %r = onnx.gather_nd %i0, %i1 {} : (tensor<3x4x2xf32>, tensor<2x3xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x2404D93FE9D4F63F"> : tensor<2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2xf32>
}
func.func @scatter_elements_142() -> (tensor<*xf32>, tensor<3x3xf32>) {
  %i0 = onnx.constant dense<"0x2235C63F130DD63F850442BF75A0713FE7CE7CBF6590B8BF73707EBE11DDD13EC505DF3F"> : tensor<3x3xf32>
  %i1 = onnx.constant dense<"0x000000000000000002000000000000000100000000000000010000000000000000000000000000000200000000000000"> : tensor<2x3xi64>
  %i2 = onnx.constant dense<"0x654CB5BF9A75593FAAFEC8BD9990BCBF3C00F23FA877483F"> : tensor<2x3xf32>
  %r = onnx.scatter_elements %i0, %i1, %i2 {axis = 0 : i64} : (tensor<3x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x654CB5BF3C00F23F850442BF9990BCBFE7CE7CBFAAFEC8BD73707EBE9A75593FA877483F"> : tensor<3x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x3xf32>
}
func.func @scatter_elements_143() -> (tensor<*xf32>, tensor<3x3xf32>) {
  %i0 = onnx.constant dense<"0x3C06BEBF2DBFCF3F3E37CBBFF88ED0BFE57D2CBF2F3CE03F6A17EFBF421FD63F9D94E43E"> : tensor<3x3xf32>
  %i1 = onnx.constant dense<"0x00000000000000000000000000000000010000000000000001000000000000000200000000000000FFFFFFFFFFFFFFFF"> : tensor<3x2xi64>
  %i2 = onnx.constant dense<"0x68ABDDBFD2798C3E0FCB28BE550A833E7CE5723FEDE7363F"> : tensor<3x2xf32>
  %r = onnx.scatter_elements %i0, %i1, %i2 {axis = 1 : i64, reduction = "add"} : (tensor<3x3xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x98493CC02DBFCF3F3E37CBBFF88ED0BF7E2B15BF2F3CE03F6A17EFBF421FD63FEE050740"> : tensor<3x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x3xf32>
}
func.func @scatter_nd_144() -> (tensor<*xf32>, tensor<3x4x2xf32>) {
  %i0 = onnx.constant dense<"0xB861723E0434C9BF01C2A23F2404D93F5823CCBFFC3E80BF4213A7BF77C4B23F0E10D23FF354E9BF3F9A2BBF59719DBF8B96F9BDB3DAD73F4112DCBF1B4EA8BF238354BD68E4C43DB0647B3FED3C7FBEECBCB7BFC5E615BFE9D4F63FA75E803F"> : tensor<3x4x2xf32>
  %i1 = onnx.constant dense<"0x00000000000000000200000000000000"> : tensor<2x1xi64>
  %i2 = onnx.constant dense<"0x9C94FE3F13C9AFBF962EA03FE114B6BEAF0D913F4897C83F30E7FB3FBA926FBFCDC340BEF7B3E23FD237E43F5C2D02BF2263E13F23BCC0BE513D00BF9E63833F"> : tensor<2x4x2xf32>
  %r = onnx.scatter_nd %i0, %i1, %i2 {} : (tensor<3x4x2xf32>, tensor<2x1xi64>, tensor<2x4x2xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x9C94FE3F13C9AFBF962EA03FE114B6BEAF0D913F4897C83F30E7FB3FBA926FBF0E10D23FF354E9BF3F9A2BBF59719DBF8B96F9BDB3DAD73F4112DCBF1B4EA8BFCDC340BEF7B3E23FD237E43F5C2D02BF2263E13F23BCC0BE513D00BF9E63833F"> : tensor<3x4x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x4x2xf32>
}
func.func @scatter_nd_145() -> (tensor<*xf32>, tensor<3x4x2xf32>) {
  %i0 = onnx.constant dense<"0xB861723E0434C9BF01C2A23F2404D93F5823CCBFFC3E80BF4213A7BF77C4B23F0E10D23FF354E9BF3F9A2BBF59719DBF8B96F9BDB3DAD73F4112DCBF1B4EA8BF238354BD68E4C43DB0647B3FED3C7FBEECBCB7BFC5E615BFE9D4F63FA75E803F"> : tensor<3x4x2xf32>
  %i1 = onnx.constant dense<"0x0000000000000000010000000000000000000000000000000100000000000000"> : tensor<2x2xi64>
  %i2 = onnx.constant dense<"0x2BD5EBBDDB2D54BE723AE9BE189E89BE"> : tensor<2x2xf32>
  %r = onnx.scatter_nd %i0, %i1, %i2 {reduction = "add"} : (tensor<3x4x2xf32>, tensor<2x2xi64>, tensor<2x2xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xB861723E0434C9BF236C333FE3169C3F5823CCBFFC3E80BF4213A7BF77C4B23F0E10D23FF354E9BF3F9A2BBF59719DBF8B96F9BDB3DAD73F4112DCBF1B4EA8BF238354BD68E4C43DB0647B3FED3C7FBEECBCB7BFC5E615BFE9D4F63FA75E803F"> : tensor<3x4x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x4x2xf32>
}
func.func @scatter_nd_146() -> (tensor<*xf32>, tensor<8xf32>) {
  %i0 = onnx.constant dense<"0xD269B8BFBDBFE0BF640B823F8D18843E1A04303FB6CB9A3F862F8ABFEA4E88BF"> : tensor<8xf32>
  %i1 = onnx.constant dense<"0x0400000000000000030000000000000001000000000000000700000000000000"> : tensor<4x1xi64>
  %i2 = onnx.constant dense<"0xEB6B63BFE3C748BF4879853F8BD600BF"> : tensor<4xf32>
  %r = onnx.scatter_nd %i0, %i1, %i2 {reduction = "max"} : (tensor<8xf32>, tensor<4x1xi64>, tensor<4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xD269B8BF4879853F640B823F8D18843E1A04303FB6CB9A3F862F8ABF8BD600BF"> : tensor<8xf32>
  return %r, %w0 : tensor<*xf32>, tensor<8xf32>
}
func.func @cum_sum_147() -> (tensor<*xf32>, tensor<2x4xf32>) {
  %i0 = onnx.constant dense<"0xFB0D35BFA4920B3FD579A0BF4C83C9BF4CDD493FCD4C833FCC8550BF614E0B3F"> : tensor<2x4xf32>
  %i1 = onnx.constant dense<"0x0100000000000000"> : tensor<i64>
  %r = onnx.cum_sum %i0, %i1 {} : (tensor<2x4xf32>, tensor<i64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xFB0D35BF5CED25BE8037B5BF665D3FC04CDD493F733BE83F1AF17F3FBE9FC53F"> : tensor<2x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x4xf32>
}
func.func @cum_sum_148() -> (tensor<*xi64>, tensor<2x4xi64>) {
  %i0 = onnx.constant dense<"0x0200000000000000FBFFFFFFFFFFFFFF0300000000000000FFFFFFFFFFFFFFFF050000000000000001000000000000000500000000000000FDFFFFFFFFFFFFFF"> : tensor<2x4xi64>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<i64>
  %r = onnx.cum_sum %i0, %i1 {exclusive = 1 : i64} : (tensor<2x4xi64>, tensor<i64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x00000000000000000200000000000000FDFFFFFFFFFFFFFF00000000000000000000000000000000050000000000000006000000000000000B00000000000000"> : tensor<2x4xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2x4xi64>
}
func.func @cum_sum_149() -> (tensor<*xf32>, tensor<5xf32>) {
  %i0 = onnx.constant dense<"0x8E6D1BBF865BE03E5C1CB83EE90DB1BF348A533F"> : tensor<5xf32>
  %i1 = onnx.constant dense<"0x0000000000000000"> : tensor<i64>
  %r = onnx.cum_sum %i0, %i1 {reverse = 1 : i64} : (tensor<5xf32>, tensor<i64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x7686BBBE4CA9763EC00D4ABE9E910EBF348A533F"> : tensor<5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<5xf32>
}
func.func @cum_sum_150() -> (tensor<*xf32>, tensor<5xf32>) {
  %i0 = onnx.constant dense<"0x6706D7BFC17FF03F036498BFE05D7CBF357299BF"> : tensor<5xf32>
  %i1 = onnx.constant dense<"0x0000000000000000"> : tensor<i64>
  %r = onnx.cum_sum %i0, %i1 {exclusive = 1 : i64, reverse = 1 : i64} : (tensor<5xf32>, tensor<i64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x6785BFBF940258C092D00BC0357299BF00000000"> : tensor<5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<5xf32>
}
func.func @top_k_151() -> (tensor<*xf32>, tensor<3xf32>, tensor<*xi64>, tensor<3xi64>) {
  %i0 = onnx.constant dense<"0x000040400000803F0000404000000040"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0x0300000000000000"> : tensor<1xi64>
  %r:2 = onnx.top_k %i0, %i1 {} : (tensor<4xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  %w0 = onnx.constant dense<"0x000040400000404000000040"> : tensor<3xf32>
  %w1 = onnx.constant dense<"0x000000000000000002000000000000000300000000000000"> : tensor<3xi64>
  return %r#0, %w0, %r#1, %w1 : tensor<*xf32>, tensor<3xf32>, tensor<*xi64>, tensor<3xi64>
}
func.func @top_k_152() -> (tensor<*xf32>, tensor<2x2xf32>, tensor<*xi64>, tensor<2x2xi64>) {
  %i0 = onnx.constant dense<"0xC0A5FB3FDC865ABF7AA3D73E6634FB3F4B6FE63F2051EABF368AAD3DD378CF3EA7404F3F630728BF"> : tensor<2x5xf32>
  %i1 = onnx.constant dense<"0x0200000000000000"> : tensor<1xi64>
  %r:2 = onnx.top_k %i0, %i1 {axis = -1 : i64, largest = 0 : i64} : (tensor<2x5xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  %w0 = onnx.constant dense<"0xDC865ABF7AA3D73E2051EABF630728BF"> : tensor<2x2xf32>
  %w1 = onnx.constant dense<"0x0100000000000000020000000000000000000000000000000400000000000000"> : tensor<2x2xi64>
  return %r#0, %w0, %r#1, %w1 : tensor<*xf32>, tensor<2x2xf32>, tensor<*xi64>, tensor<2x2xi64>
}
func.func @top_k_153() -> (tensor<*xf32>, tensor<2x2xf32>, tensor<*xi64>, tensor<2x2xi64>) {
  %i0 = onnx.constant dense<"0xBA3830BF7CCEFDBF75F5EDBFBF084D3E5325D9BF625498BFC4BA2ABF31EBDBBF"> : tensor<4x2xf32>
  %i1 = onnx.constant dense<"0x0200000000000000"> : tensor<1xi64>
  %r:2 = onnx.top_k %i0, %i1 {axis = 0 : i64} : (tensor<4x2xf32>, tensor<1xi64>) -> (tensor<*xf32>, tensor<*xi64>)
  %w0 = onnx.constant dense<"0xC4BA2ABFBF084D3EBA3830BF625498BF"> : tensor<2x2xf32>
  %w1 = onnx.constant dense<"0x0300000000000000010000000000000000000000000000000200000000000000"> : tensor<2x2xi64>
  return %r#0, %w0, %r#1, %w1 : tensor<*xf32>, tensor<2x2xf32>, tensor<*xi64>, tensor<2x2xi64>
}
func.func @arg_max_154() -> (tensor<*xi64>, tensor<2x1xi64>) {
  %i0 = onnx.constant dense<"0x0000803F0000404000004040000000400000004000000000"> : tensor<2x3xf32>
  %r = onnx.arg_max %i0 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x01000000000000000000000000000000"> : tensor<2x1xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2x1xi64>
}
func.func @arg_max_155() -> (tensor<*xi64>, tensor<2xi64>) {
  %i0 = onnx.constant dense<"0x0000803F0000404000004040000000400000004000000000"> : tensor<2x3xf32>
  %r = onnx.arg_max %i0 {axis = 1 : i64, keepdims = 0 : i64, select_last_index = 1 : i64} : (tensor<2x3xf32>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x02000000000000000100000000000000"> : tensor<2xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2xi64>
}
func.func @arg_min_156() -> (tensor<*xi64>, tensor<4xi64>) {
  %i0 = onnx.constant dense<"0x2433F0BF5195DA3F57B184BE621997BF6474553FFB29FBBF198D82BF60E7EB3F0C9ECB3FFD2F0B3FBA47D0BFE1503ABF"> : tensor<3x4xf32>
  %r = onnx.arg_min %i0 {axis = 0 : i64, keepdims = 0 : i64} : (tensor<3x4xf32>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x0000000000000000010000000000000002000000000000000000000000000000"> : tensor<4xi64>
  return %r, %w0 : tensor<*xi64>, tensor<4xi64>
}
func.func @non_zero_157() -> (tensor<*xi64>, tensor<2x2xi64>) {
  %i0 = onnx.constant dense<"0x0100000000000000000000000000000000000000000000000200000000000000"> : tensor<2x2xi64>
  %r = onnx.non_zero %i0 {} : (tensor<2x2xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x0000000000000000010000000000000000000000000000000100000000000000"> : tensor<2x2xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2x2xi64>
}
func.func @non_zero_158() -> (tensor<*xi64>, tensor<1x2xi64>) {
  %i0 = onnx.constant dense<[true, false, true]> : tensor<3xi1>
  %r = onnx.non_zero %i0 {} : (tensor<3xi1>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x00000000000000000200000000000000"> : tensor<1x2xi64>
  return %r, %w0 : tensor<*xi64>, tensor<1x2xi64>
}
func.func @one_hot_159() -> (tensor<*xf32>, tensor<4x3xf32>) {
  %i0 = onnx.constant dense<"0x00000000000000000200000000000000FFFFFFFFFFFFFFFF0900000000000000"> : tensor<4xi64>
  %i1 = onnx.constant dense<"0x0300000000000000"> : tensor<i64>
  %i2 = onnx.constant dense<"0x000000000000803F"> : tensor<2xf32>
  %r = onnx.one_hot %i0, %i1, %i2 {} : (tensor<4xi64>, tensor<i64>, tensor<2xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0000803F000000000000000000000000000000000000803F00000000000000000000803F000000000000000000000000"> : tensor<4x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<4x3xf32>
}
func.func @one_hot_160() -> (tensor<*xi64>, tensor<2x2x2xi64>) {
  %i0 = onnx.constant dense<"0x0000000000000000010000000000000001000000000000000000000000000000"> : tensor<2x2xi64>
  %i1 = onnx.constant dense<"0x0200000000000000"> : tensor<i64>
  %i2 = onnx.constant dense<"0x05000000000000000600000000000000"> : tensor<2xi64>
  %r = onnx.one_hot %i0, %i1, %i2 {axis = 1 : i64} : (tensor<2x2xi64>, tensor<i64>, tensor<2xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x06000000000000000500000000000000050000000000000006000000000000000500000000000000060000000000000006000000000000000500000000000000"> : tensor<2x2x2xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2x2x2xi64>
}
func.func @reduce_mean_161() -> (tensor<*xf32>, tensor<2x3x1xf32>) {
  %i0 = onnx.constant dense<"0xD3B2F1BF32C68FBF4CFAF2BF7967BFBF6569083FC192CCBFD23FB0BFD93CCE3F297F28BFDB022BBF19B1D3BF3584973F3C9C343F530E413E4A7CF13EE79ACCBF547275BF3E4CAB3EF28AE73F1E5FA23F921A103F6C299A3D9840F8BFF60BC83F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.reduce_mean %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xB2F6CCBF0EC254BEE7EDE5BE605F6EBDFB011D3FF8EC853D"> : tensor<2x3x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x1xf32>
}
func.func @reduce_mean_162() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0x4DC5DDBF17E9BDBF99B4453F56D19F3FC5B6923FE6F342BEF258A5BFDEECEDBF07E8B33FC394F43FAC0083BF5B6EBB3FDF9DC7BE1A2F41BFB7E5A83C61D1FBBF3CA46ABEEED399BF618E593F9884283C40DABC3F7915CB3F8CA33BBF11E360BF"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x00000000000000000200000000000000"> : tensor<2xi64>
  %r = onnx.reduce_mean %i0, %i1 {keepdims = 0 : i64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xE42B09BFE2FEB0BEB8A5263F"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @reduce_sum_163() -> (tensor<*xf32>, tensor<2x3x1xf32>) {
  %i0 = onnx.constant dense<"0xB3D5E03FF5FD823C8495CEBFBE81E8BF0E19FB3F8A20A23E7F19E4BFC668383D117F863C615384BE390EE73F73C5E53F3D04C0BFAA51B2BF9D76BDBE8505AB3F0072FD3E97586B3F7FC49B3E6B7394BF26B2A23F3ED2F8BF753F4B3F857F9CBF"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.reduce_sum %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x9735D4BFEE950A3F68EC56400BAEF6BF020D0F3FE2FF8CBF"> : tensor<2x3x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x1xf32>
}
func.func @reduce_sum_164() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0x90D1ECBDA944F33F10E41F3E9BD7E2BFE1DB91BE0F1D243F57F7E2BF57487DBFA59CF6BF9B1E243EE2BBF2BE35D4713C271051BF0592203F4061A7BFB234D03FCC8FEB3F7795E5BC15C30DBEAE1FB83FC33457BFAB309B3F09CC59BF733E613F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x00000000000000000200000000000000"> : tensor<2xi64>
  %r = onnx.reduce_sum %i0, %i1 {keepdims = 0 : i64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x60C3983E98B9343FA494E9BF"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @reduce_max_165() -> (tensor<*xf32>, tensor<2x3x1xf32>) {
  %i0 = onnx.constant dense<"0xEEF829BFD320D23E670BDA3F8B2FE4BF7B509D3F42662B3E64ABF7BE645119BF0776DCBF936B77BF442FFC3EB008CEBF1E792D3F78ACEC3F4928F63FA04AC73F19FC9C3F4EE3A4BF48B8F03FAA3498BF17F4BC3FA878C13F11ABF93E758BAE3D"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.reduce_max %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x670BDA3F7B509D3F442FFC3E4928F63F48B8F03FA878C13F"> : tensor<2x3x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x1xf32>
}
func.func @reduce_max_166() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0xDF6199BF227C9F3DBD6756BF908CBFBFBA5DBEBF15339A3F4145D83FF95CB7BFD935F9BF450A72BFD02ABBBF586C9FBF4BA7AA3E42249FBE56F090BEF0B996BFF689283FA28A57BF158CCEBE29DB15BEBA10CF3FAADD81BFFDE95F3FD83443BF"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x00000000000000000200000000000000"> : tensor<2xi64>
  %r = onnx.reduce_max %i0, %i1 {keepdims = 0 : i64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x4BA7AA3E4145D83FBA10CF3F"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @reduce_min_167() -> (tensor<*xf32>, tensor<2x3x1xf32>) {
  %i0 = onnx.constant dense<"0x3FF2C93FDAECD8BECA23A93C5C22C13F3CE8303F33B0CFBFA7F0B9BF4841FB3F1D19F1BF3BE84BBF34F4EA3F0544F8BF425DADBFEAC192BF97C4D3BF49B1E5BD1950BD3EEB093ABF125FC8BFA3359F3FACE39B3F775C7E3EDE79B9BF32AB2B3E"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.reduce_min %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xDAECD8BE33B0CFBF0544F8BF97C4D3BF125FC8BFDE79B9BF"> : tensor<2x3x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x1xf32>
}
func.func @reduce_min_168() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0xECA1043F79DB92BE4D4CBA3FE12FE1BEB15F323D008FC5BFEC26823EE16B883FFBCE6C3F04DA78BFE4D5FB3F6B36613FB1279CBE7044AEBEBC038F3FF70CA6BF7DFA0E3F7517603F81DB853DDD13BF3F8F7700BE9FCC0FBEF17C5CBFE1B7D63F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x00000000000000000200000000000000"> : tensor<2xi64>
  %r = onnx.reduce_min %i0, %i1 {keepdims = 0 : i64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xF70CA6BF008FC5BF04DA78BF"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @reduce_prod_169() -> (tensor<*xf32>, tensor<2x3x1xf32>) {
  %i0 = onnx.constant dense<"0xC5233CBF31F5473F2BA5B9BEE9EFDE3FEE5AE53F399FF0BF8233FD3FBCE8D63EE12FDABF989642BC9DABE6BFE244483E1C0CA1BFA63A07BFB1FC47BF8854D13EA10CA53FBB81DF3FD43F2FBF9AB98E3EC9FAFCBF90E702BF5FE1EB3F9827C3BF"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.reduce_prod %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x779BB93E1BFF32C01FCFE9BB755E59BE2FFDDBBE49BA35C0"> : tensor<2x3x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x1xf32>
}
func.func @reduce_prod_170() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0x115ABD3F532A1C3F860D53BF1D6B8E3FA0C657BF3325CA3F97A0D5BF5813C3BF9901803F6A2A50BEAF7FB4BF791A5C3D53E74FBFD3FE493E2590793FA6B3B63FBBCAE1BF8024BD3E0CA3F73F73AB24BE9D048A3FDA33CEBF6D3CBF3F510BA83E"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x00000000000000000200000000000000"> : tensor<2xi64>
  %r = onnx.reduce_prod %i0, %i1 {keepdims = 0 : i64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x58F33C3E90B92FBFB5FB56BC"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @reduce_sum_square_171() -> (tensor<*xf32>, tensor<2x3x1xf32>) {
  %i0 = onnx.constant dense<"0x6FCAC63F1E01933FFF0CBD3F1DAAE2BF5AB25C3F52259BBF6ACF6FBF1E6C33BF2D03BB3EF9ED023F0AE6DC3FFA7CF9BFA2F59CBF364F0DBFCBD1A23F1B6D4C3E3B74443D1637853FD9C71E3F0A3057BF7A65D3BF3B641ABE2CA5C23F2EFEC83E"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.reduce_sum_square %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x42C510414C3065400484E54088D75D403A4F0B4043F0A640"> : tensor<2x3x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x1xf32>
}
func.func @reduce_sum_square_172() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0x4CB7E4BFC57175BE8050ECBE69CEA83E806FB23EFE14E73FBACA25BF6E38BCBEFB79E83EFED4C53F6617533FA981EEBDCD0EA13FB8BE70BDE052ED3F77B85EBF7DC6BEBF2D2AA93FD9904FBFECDDB13FA30FE03E14CA123D9270D3BFF297923F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x00000000000000000200000000000000"> : tensor<2xi64>
  %r = onnx.reduce_sum_square %i0, %i1 {keepdims = 0 : i64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xDCA615418EDD27414EB0F040"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @reduce_l2_173() -> (tensor<*xf32>, tensor<2x3x1xf32>) {
  %i0 = onnx.constant dense<"0x293FDEBF4A28EE3FD002C13F9AC249BF5388BEBF1F77C53F6D10A5BD8B10C0BF4BB3C1BBE7A081BFCCC0BCBE5A9B0F3FB1AAD43F7A139A3F3E90ADBF6CAAB9BD6C4004BD7C9DFA3F2082D3BFC86A303D6627D43F2028CFBE3D0074BF801A653E"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xFFFFFFFFFFFFFFFF"> : tensor<1xi64>
  %r = onnx.reduce_l2 %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x2CEC4340808C274039859B3F1B801D4068012440F0C8FB3F"> : tensor<2x3x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x1xf32>
}
func.func @reduce_l2_174() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0xC03A38BF1EAADA3F4195D4BF632A96BFDD0ED5BF7CF9583F9FD253BFF4E2CC3F0F8AC93F126EDF3F73B979BFEBA9FFBF212FE6BE10D5EC3F2F09873F4374E1BF196F4F3F5A89D53FFE78EF3F212C5D3F89DAB93F94F3AE3FE60F11BF1F4ACDBF"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x00000000000000000200000000000000"> : tensor<2xi64>
  %r = onnx.reduce_l2 %i0, %i1 {keepdims = 0 : i64} : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xF43F7B406F0C7340853D8540"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @reduce_sum_175() -> (tensor<*xf32>, tensor<1x1xf32>) {
  %i0 = onnx.constant dense<"0x5EEC683F7FE6B9BF3129EDBE1AD1FD3FABE1743E2918B23D"> : tensor<2x3xf32>
  %i1 = onnx.none
  %r = onnx.reduce_sum %i0, %i1 {} : (tensor<2x3xf32>, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x36D4A63F"> : tensor<1x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<1x1xf32>
}
func.func @reduce_sum_176() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<"0x8550E53F98245DBF69B5FF3F04EFD23FBF5C0BBF0CE830BF"> : tensor<2x3xf32>
  %i1 = onnx.none
  %r = onnx.reduce_sum %i0, %i1 {noop_with_empty_axes = 1 : i64} : (tensor<2x3xf32>, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x8550E53F98245DBF69B5FF3F04EFD23FBF5C0BBF0CE830BF"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @reduce_prod_177() -> (tensor<*xi64>, tensor<i64>) {
  %i0 = onnx.constant dense<"0x020000000000000003000000000000000400000000000000"> : tensor<3xi64>
  %i1 = onnx.constant dense<"0x0000000000000000"> : tensor<1xi64>
  %r = onnx.reduce_prod %i0, %i1 {keepdims = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0x1800000000000000"> : tensor<i64>
  return %r, %w0 : tensor<*xi64>, tensor<i64>
}
func.func @reduce_max_178() -> (tensor<*xf32>, tensor<0xf32>) {
  %i0 = onnx.constant dense<> : tensor<0x3xf32>
  %i1 = onnx.constant dense<"0x0100000000000000"> : tensor<1xi64>
  %r = onnx.reduce_max %i0, %i1 {keepdims = 0 : i64} : (tensor<0x3xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<> : tensor<0xf32>
  return %r, %w0 : tensor<*xf32>, tensor<0xf32>
}
func.func @reduce_sum_179() -> (tensor<*xf32>, tensor<2x1xf32>) {
  %i0 = onnx.constant dense<> : tensor<2x0xf32>
  %i1 = onnx.constant dense<"0x0100000000000000"> : tensor<1xi64>
  %r = onnx.reduce_sum %i0, %i1 {} : (tensor<2x0xf32>, tensor<1xi64>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x0000000000000000"> : tensor<2x1xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x1xf32>
}
func.func @mat_mul_180() -> (tensor<*xf32>, tensor<3x2xf32>) {
  %i0 = onnx.constant dense<"0x1633BFBFC8CED43F86DDA0BF2667FBBF1EB8C73F96F0C83E18F92F3F8EBC6E3F4228EABF62F8D0BF78042BBA3244E6BF"> : tensor<3x4xf32>
  %i1 = onnx.constant dense<"0x2E9C8D3CC402723FDD2F213FF7E4EE3E833DE8BF2CD586BF6D84CB3F3EE9C0BF"> : tensor<4x2xf32>
  %r = onnx.mat_mul %i0, %i1 {} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xCAA6363EC97169400F78023FE05CF1BE8CCB7AC04517623E"> : tensor<3x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x2xf32>
}
func.func @mat_mul_181() -> (tensor<*xf32>, tensor<2x3x5xf32>) {
  %i0 = onnx.constant dense<"0x9515083E0E60E6BF2ADFE03FD628A8BF7046B8BE959D3F3E3BE65F3FC2F9DF3F3709723F774B1CBF166DD9BF0162543FDFECF13FAC49F7BFCEA28C3FBAD0A5BFA00724BE8C70B93D4D58EA3E92A4FA3F57E63F3FFC63DCBE692E5C3FC64408BE"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0x26EEB1BE349209BFB011D8BCC91160BF6D0B84BF2EFCB3BF07D774BE4EB353BF9983AC3F2F1FB23FCBDE1FBFC400F43E10F9CD3FDB3710BF9A1D603E142F67BE21DF193F1767EB3F5106B9BFFC46EE3F"> : tensor<4x5xf32>
  %r = onnx.mat_mul %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x7E8FD73F4723D03E3CA8F23FBEFCD0BFF77C96C0C9258ABF2601CF3FA35D8F40411C1DC001938240E2A2B33F4B472CBF294B3ABFBF42F2BF6AFE26BF4141D53FD80B4FBF16F26E3FDC4940C03DE5D9C08DB04CBFB9D1BA3FCD8B884026DF34C0CC2B8140833326BE5EB5F53C34DCBC3F7CA3C3BFB044B7BF"> : tensor<2x3x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x5xf32>
}
func.func @mat_mul_182() -> (tensor<*xf32>, tensor<2x3x3x2xf32>) {
  %i0 = onnx.constant dense<"0x0CB6293F577C973F5F5D0A3F309ABD3F79EE31BF710A553F5A8C71BF14D70D3DA3D8393F3D0699BFB7AFE0BF27F7943F352E9E3F0DA4293FA1DA36BF1BF8213FA10DD5BFED68263FFC0D9C3ED208F03E072759BE0CB88CBF5A4C673F19EC12BE"> : tensor<2x1x3x4xf32>
  %i1 = onnx.constant dense<"0xE0447B3F60140BBF490DD3BF04E82D3E4F6AFB3E2BF3D73FCA87C63F59BDE2BFAA2E8B3F4F5D74BF5FEE493F28D2F6BE173136BF9AF53FBD7B1CFA3D9E26473F52310D3F9C88363F2169EDBEB798353FC9521EBF643ADC3EC2C025BE899C803E"> : tensor<3x4x2xf32>
  %r = onnx.mat_mul %i0, %i1 {} : (tensor<2x1x3x4xf32>, tensor<3x4x2xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x498FA13F7684EFBFA1B11DC0E62F91BF361E6840DBDAB3C0B6ADB93F8C529CBDFE8E133F41B8AA3E5E6F9E3FEBF75E3F4CD641BFBD58F53F46E143BE9BD59ABE1C0DED3FCC094BBF293B403F0E9E38C06C13EABF4DCC323F62AFE93F4F7EDA3F6FEE1C40C43079BFAA78BABFFC1CD03FF70FE1BF8D14143FEDB0363FBAF8993FD9EDBDBF3923F4BE1D2B12BE5A1614BF"> : tensor<2x3x3x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x3x2xf32>
}
func.func @mat_mul_183() -> (tensor<*xf32>, tensor<2xf32>) {
  %i0 = onnx.constant dense<"0x3C05F7BFE8109FBB5D608FBF1EDBE9BE"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0xB83ADABFAFAA203FAB7BC93F79E414BF8E34CABFF64EF63E14F5BEBF9782C83F"> : tensor<4x2xf32>
  %r = onnx.mat_mul %i0, %i1 {} : (tensor<4xf32>, tensor<4x2xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xC378B7400E9D1DC0"> : tensor<2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2xf32>
}
func.func @mat_mul_184() -> (tensor<*xf32>, tensor<3xf32>) {
  %i0 = onnx.constant dense<"0x574DC1BFD3710DBFEEFCAEBC2DA6C3BF3B9A39BF3E1D66BF6C6B5A3FD3F8F83F5D740CBF2FD9943F3925B8BFD2A9A33E"> : tensor<3x4xf32>
  %i1 = onnx.constant dense<"0xA3CD89BE5CE658BF37B7A43FFC557C3F"> : tensor<4xf32>
  %r = onnx.mat_mul %i0, %i1 {} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x10D728BFDC337E4094EC17C0"> : tensor<3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3xf32>
}
func.func @mat_mul_185() -> (tensor<*xf32>, tensor<f32>) {
  %i0 = onnx.constant dense<"0xC164BBBF369354BF2596A33FFF1FFC3F"> : tensor<4xf32>
  %i1 = onnx.constant dense<"0x257CE43E4D4FBE3FE2EBF73F8D51763F"> : tensor<4xf32>
  %r = onnx.mat_mul %i0, %i1 {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x6CE41E40"> : tensor<f32>
  return %r, %w0 : tensor<*xf32>, tensor<f32>
}
func.func @mat_mul_186() -> (tensor<*xi64>, tensor<2x2xi64>) {
  %i0 = onnx.constant dense<"0x05000000000000000200000000000000FDFFFFFFFFFFFFFFFDFFFFFFFFFFFFFF0200000000000000FFFFFFFFFFFFFFFF"> : tensor<2x3xi64>
  %i1 = onnx.constant dense<"0x03000000000000000100000000000000FBFFFFFFFFFFFFFF05000000000000000500000000000000FEFFFFFFFFFFFFFF"> : tensor<3x2xi64>
  %r = onnx.mat_mul %i0, %i1 {} : (tensor<2x3xi64>, tensor<3x2xi64>) -> tensor<*xi64>
  %w0 = onnx.constant dense<"0xF6FFFFFFFFFFFFFF1500000000000000E8FFFFFFFFFFFFFF0900000000000000"> : tensor<2x2xi64>
  return %r, %w0 : tensor<*xi64>, tensor<2x2xi64>
}
func.func @mat_mul_187() -> (tensor<*xf32>, tensor<2x3xf32>) {
  %i0 = onnx.constant dense<> : tensor<2x0xf32>
  %i1 = onnx.constant dense<> : tensor<0x3xf32>
  %r = onnx.mat_mul %i0, %i1 {} : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x000000000000000000000000000000000000000000000000"> : tensor<2x3xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3xf32>
}
func.func @gemm_188() -> (tensor<*xf32>, tensor<3x2xf32>) {
  %i0 = onnx.constant dense<"0xA19CD6BE5E9DF4BFCC72493FE62267BE5070983F605E88BF467A233F313F313FDB2012BE116F9FBFD6DCC6BE87EC7A3F"> : tensor<3x4xf32>
  %i1 = onnx.constant dense<"0x10239FBF25E6D1BF727118BED1EC87BFD5E1993F126EA23FCBFBE33F55F5AD3F"> : tensor<4x2xf32>
  %i2 = onnx.none
  %r = onnx.gemm %i0, %i1, %i2 {} : (tensor<3x4xf32>, tensor<4x2xf32>, none) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x4BC0AC3F97255A4003CB2D3F30036E3F9523D23FEC561940"> : tensor<3x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x2xf32>
}
func.func @gemm_189() -> (tensor<*xf32>, tensor<3x2xf32>) {
  %i0 = onnx.constant dense<"0x84FB163FBB3AA0BF1B61A53F9291693F98CA7C3F112C4A3FCDF8A83F21024FBFEA96303FD9B68D3D450C26BF035131BF"> : tensor<4x3xf32>
  %i1 = onnx.constant dense<"0x8166B0BF68AF0ABDEC6E06BF0DBCA0BED10DB43F4DDE393F0293383FE2D4F73F"> : tensor<2x4xf32>
  %i2 = onnx.constant dense<"0x327990BFD45B013D"> : tensor<2xf32>
  %r = onnx.gemm %i0, %i1, %i2 {alpha = 0.5 : f32, beta = 2.0 : f32, transA = 1 : i64, transB = 1 : i64} : (tensor<4x3xf32>, tensor<2x4xf32>, tensor<2xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x6C5942C07F10AD3F3C788CBFC969B0BFDEF04EC0E832563F"> : tensor<3x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<3x2xf32>
}
func.func @softmax_190() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x64A1D0BF4590DBBE7B94E63F4102D4BF3DF4833F301ABB3F0493123D6E60983F1F7A71BE462A16BF"> : tensor<2x5xf32>
  %r = onnx.softmax %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x7F24A23CDABA863DB7A81C3F47EB9D3CE2FE903E9430DD3EED96D43D26A2A83ED706A23D922E643D"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @softmax_191() -> (tensor<*xf32>, tensor<2x3x2xf32>) {
  %i0 = onnx.constant dense<"0xA2C9BB3C9C4A9CBF4E2245BF764B47BFB510FA3F01CB28BFBCD18ABF2829E13FBD0BB9BF807DEE3F3BE5B43F8696163F"> : tensor<2x3x2xf32>
  %r = onnx.softmax %i0 {axis = 1 : i64} : (tensor<2x3x2xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x3C5CF53DA1926D3E790C5E3D74E8B83EB173533F3A4ED03E95D8933D1D95D33EAE0F4E3DD7CDEA3EF3A3603F163A033E"> : tensor<2x3x2xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x2xf32>
}
func.func @log_softmax_192() -> (tensor<*xf32>, tensor<2x5xf32>) {
  %i0 = onnx.constant dense<"0x72D993BE52039BBFBE9FC9BF10EBCABF8B7A1ABFFD28BEBE8AF0D83F3163143EF533FB3F8130623F"> : tensor<2x5xf32>
  %r = onnx.log_softmax %i0 {} : (tensor<2x5xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x8C1E7CBF3C1CF4BF545C11C0FD0112C02F56A6BF18724CC0666990BFC5662BC0F74B5CBFAF41F8BF"> : tensor<2x5xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x5xf32>
}
func.func @softmax_193() -> (tensor<*xf16>, tensor<2x5xf16>) {
  %i0 = onnx.constant dense<"0xA9BDDB3273BD5FBF1A3F30B9F7BC5FBEDE38F9B0"> : tensor<2x5xf16>
  %r = onnx.softmax %i0 {} : (tensor<2x5xf16>) -> tensor<*xf16>
  %w0 = onnx.constant dense<"0xF7271531352834250E3A8330FD2C032BEC376333"> : tensor<2x5xf16>
  return %r, %w0 : tensor<*xf16>, tensor<2x5xf16>
}
func.func @layer_normalization_194() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0x9D05FABF7F585C3F112979BF4CA58F3FDAAE3ABD65BD113E40512FBE9A34343F33E7FA3FC382983FAE9EDCBF3052AABC740B88BF5E92CBBFF4119CBF29F780BF7761EB3FD0BD7A3F62B8B43F16984B3F2AC53CBF1504DFBEF6F772BE028D53BF"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xBCE2A0BEFFD88A3F673DD9BF92C964BF"> : tensor<4xf32>
  %i2 = onnx.constant dense<"0x9ED1ABBD4174343F426E153F9E62663F"> : tensor<4xf32>
  %r:3 = onnx.layer_normalization %i0, %i1, %i2 {} : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %w0 = onnx.constant dense<"0x5420AD3EEA4DD13F28FDC73F00D549BD9C5EDA3D65F9273FFEFB0F40D2330FBF70FFE4BEA40CAE3FDE6F4740ADD6913FEB179ABEECCB87BF7A0B143F80D1853D0A7809BF20571EBD385B8EBD06C1F53FB57A1D3E340BA33F0B0ADEBFE6EBF43F"> : tensor<2x3x4xf32>
  return %r#0, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @layer_normalization_195() -> (tensor<*xf32>, tensor<2x6xf32>) {
  %i0 = onnx.constant dense<"0x161BCABF5B74A3BFAF9A43BF428D5FBFD3DC823F2694FC3F68823B3F8914EFBF6B434FBF63269B3F1A43D93F5561C23E"> : tensor<2x6xf32>
  %i1 = onnx.constant dense<"0x43CE1ABFDC5B14BF50A4083F3277BA3F1AFD22BFD25C9EBF"> : tensor<6xf32>
  %i2 = onnx.none
  %r:3 = onnx.layer_normalization %i0, %i1, %i2 {epsilon = 0.001 : f32} : (tensor<2x6xf32>, tensor<6xf32>, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %w0 = onnx.constant dense<"0x66131F3FA1A4EB3EF25C59BEFCC733BF6C4120BF450E08C0816581BEB7197F3F4532E8BEA972973F576445BF051122BE"> : tensor<2x6xf32>
  return %r#0, %w0 : tensor<*xf32>, tensor<2x6xf32>
}
func.func @layer_normalization_196() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0x3E92FEBF6C9DB9BFE5CEB33F3F26FF3ED034FB3F816FDCBF033309BF3367973F4813253F56DDDDBFD3D9C9BE90EF0C3FB042403F6CDF45BE80A89FBF058EEE3F613609BE4A8F5E3F1DA70E3E63AFD6BF2DD086BF24BBDFBF65529EBF1F8199BF"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xA55DAEBEEC9436BFDDBE0CBF093FA23F4F10F5BFC00FCBBF5B989D3FFC1E0B3E114F7ABE61446EBFEF572D3E3C8F8EBF"> : tensor<3x4xf32>
  %i2 = onnx.none
  %r:3 = onnx.layer_normalization %i0, %i1, %i2 {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<3x4xf32>, none) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  %w0 = onnx.constant dense<"0x8F06F83E945F383F5FA325BF8B991C3FD48D44C0735DF73F382AC3BE4C140C3E3CE214BE0425923F556A0BBD02FF14BF851AB8BE3B830DBE7D5AD83E3E102840ACF4F2BE1158ECBF44C41C3F018821BE8F07143EC102923F459403BE8CA04E3F"> : tensor<2x3x4xf32>
  return %r#0, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @rms_normalization_197() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0x0E7BB73F88E8A53FB96C36BFC574F3BF637CC63FFB284EBF00A4203F2960B73FE4C2983FBC99B93F680532BD0341AF3FD31A1FBEC4D971BF17EC9BBD758E28BF78C7883FBED5A93FEBB8B7BF40D0ABBFFB42EEBE076116BEF9A2E93F7825E23F"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xF11FEF3F02456B3F097B353F951E6BBF"> : tensor<4xf32>
  %r = onnx.rms_normalization %i0, %i1 {} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0x8D85F43FE389593F2C82B8BEFB819F3F031F1E403D9621BFE33EC23E0AA38FBF9E8AF53F0FC2923F182AD9BC077D8ABF0740FFBE1CDFBEBF01D8BDBD26F1843FC77EC43F960C703F014F48BFD5B0723FC2122CBFDCB4D5BDC80E803F8396A0BF"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
func.func @rms_normalization_198() -> (tensor<*xf32>, tensor<2x3x4xf32>) {
  %i0 = onnx.constant dense<"0xD46602BF4BA0FEBF1C79AA3FF44965BF7868D7BFADD53CBFED1235BF7E5C653F0414FDBFAC3B8ABF05FECA3F53B2B53FC820043F7275713E13058EBFC70CC03F497D853F80E3533D028FADBF867D91BFF534F7BEABED2CBF43BDE0BFC0BDBFBE"> : tensor<2x3x4xf32>
  %i1 = onnx.constant dense<"0xD60D52BEBE075ABF9BF2ECBE2EA52BBF983DFCBE83C6F33E81EF2EBC8FD59ABF462C973F320C583DB6892ABE84765A3F"> : tensor<3x4xf32>
  %r = onnx.rms_normalization %i0, %i1 {axis = -2 : i64, epsilon = 0.01 : f32} : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<*xf32>
  %w0 = onnx.constant dense<"0xBB02A13D8C2AA33FEB6FEDBEA657E73E8EB11F3F8D4B87BEA132BA3B21C050BFB8E3E0BFEC8C2FBD2F7D4BBEB653693FBF4FD8BDD3274DBE0D23033FE07580BF2E3703BF214AC93C68A26C3C5E92AF3FE9A111BFB69711BD385B953E803CA3BE"> : tensor<2x3x4xf32>
  return %r, %w0 : tensor<*xf32>, tensor<2x3x4xf32>
}
